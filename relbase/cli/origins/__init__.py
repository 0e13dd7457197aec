"""Finds what states the URL of a saved file outside the file, and the files beside it."""
