"""Reproduces Clark, Celikyilmaz and Smith (2019): sentence mover's similarity."""
