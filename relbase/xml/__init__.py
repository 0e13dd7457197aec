"""XML and feeds: structure, names, escapes, and the visit of their references."""
