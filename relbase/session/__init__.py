"""From checked arguments to an open document: what the input is, and the base around it."""
