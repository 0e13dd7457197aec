"""The compiled scanner: its binding, its tables, and what becomes of plain references."""
