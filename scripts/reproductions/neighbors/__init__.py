"""BLEU Neighbors (Ethayarajh and Sadigh 2020): judged texts -> kernel values -> studies -> tables, claims, figures."""
