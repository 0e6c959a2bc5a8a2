"""Reports: blocks of words, tables and pictures, and one renderer a format (terminal, HTML, Markdown, LaTeX)."""
