"""`python -m relbase` is the command line."""

from relbase.cli import main

main()
