"""Compressed members of archives, and the content codings of HTTP."""
