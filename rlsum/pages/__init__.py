"""What every HTML page of the project shares: its frame, tables and pictures as figures, light and dark."""
