"""An analysis in words, tables, pictures, and as a card."""
