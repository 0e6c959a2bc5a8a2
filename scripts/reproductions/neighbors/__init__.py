"""Reproduces Ethayarajh and Sadigh (2020), BLEU Neighbors: judged texts -> kernel values -> tables, claims, figures."""
