"""A study as files for judges who do not use the app, made from its public part alone. One function a format."""
