"""Reproduces Chen, Ding, Levinboim and Soricut (2020): batch centering and the tempered word mover's distance."""
