"""Views: what a text around or within a document means, and the way back to how it is written."""
