"""Divides messages, mailboxes, HTTP and web archives into their parts, as spans of bytes."""
