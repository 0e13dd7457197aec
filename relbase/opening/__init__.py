"""From checked arguments to an open document: what the input is, and the base around it.

`recognition` says what the bytes are, and `door` does the rest, once from top to bottom.
"""
