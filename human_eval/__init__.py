"""Studies with human judges: the package is reserved here and holds nothing yet."""
