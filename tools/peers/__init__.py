"""Puts relbase into other projects, and runs their own tests."""
