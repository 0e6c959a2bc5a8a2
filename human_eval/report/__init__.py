"""The analysis as sentences, tables, pictures and data; the card combines them."""
