"""What a comparison shows: its findings, tables, pictures and texts, as blocks of a page."""
