"""What tools of other platforms need: files for compilers, and for Pythons elsewhere."""
