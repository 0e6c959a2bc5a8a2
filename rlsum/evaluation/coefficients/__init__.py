"""Statistics of agreement between a metric and people: a file each, and the table of their names (`table.py`)."""
