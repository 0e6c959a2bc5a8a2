"""Pictures drawn with matplotlib, for light and dark pages: how they look, curves, the fonts of their texts."""
