"""Messages and mailboxes: what becomes of their headers, their parts and what describes a body."""
