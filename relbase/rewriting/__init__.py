"""From a text inward to its references, and back outward with what becomes of each."""
