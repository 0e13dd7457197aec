"""A command of its own: `python -m tests.crashes`."""
