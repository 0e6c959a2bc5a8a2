"""Judges' responses: the app's database, files that judges return, and which responses count."""
