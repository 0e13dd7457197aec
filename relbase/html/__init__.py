"""HTML: its tags and tokens, what its elements hold, and the visit of its references."""
