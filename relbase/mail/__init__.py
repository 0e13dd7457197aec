"""Messages and mailboxes: what becomes of their headings, their parts and what describes a body."""
