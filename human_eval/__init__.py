"""Blind studies with human judges: from outputs of several systems to a verdict. Importing this is cheap."""
