"""Views decode what encodes a document or a text in it, and map edits back to the encoded form."""
