"""Where the URL of a saved file is stated outside of the file, and what is beside it."""
