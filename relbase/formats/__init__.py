"""A row for each kind of document, and how a kind is recognised."""
