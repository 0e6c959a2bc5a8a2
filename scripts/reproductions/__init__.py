"""The tables, figures and findings of published papers, measured anew and set beside the published numbers."""
