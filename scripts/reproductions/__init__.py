"""Reproductions of published tables, figures and findings, with the published numbers for comparison."""
