"""Finds and rewrites the links of Markdown."""
