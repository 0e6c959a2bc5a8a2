"""Rewards that are models: likelihood, entailment, a reward model, a model on a server that judges."""
