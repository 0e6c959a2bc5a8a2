"""Rewards that compare words and n-grams: ROUGE, BLEU, METEOR, BLEU Neighbors; that count them: length, repetition."""
