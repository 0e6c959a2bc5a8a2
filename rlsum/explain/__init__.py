"""Explanations of scores as pictures: where things stand, and two ways of drawing them."""
