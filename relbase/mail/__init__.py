"""Messages and mailboxes: their headers, their parts, and the fields that describe a body."""
