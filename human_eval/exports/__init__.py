"""A study as files for judges who are elsewhere. Exports are made from the public study alone."""
