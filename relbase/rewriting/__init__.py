"""Finds the references of a text, decides what becomes of each, and makes the edits."""
