"""Explanations of scores as pictures: their layout, and its two drawings, PNG and HTML."""
