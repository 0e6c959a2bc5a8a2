"""Studies with human judges, blind: from outputs of several systems to a verdict. Importing this loads nothing heavy."""
