"""CSS: statements, functions, escapes, and the visit of its references."""
