"""Judges' answers: the database of the app, files that come back, and which answers count."""
