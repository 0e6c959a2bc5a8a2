"""How many items and judges a study needs, by simulation, and the plan to register."""
