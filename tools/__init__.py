"""What is made from the program: its manual, and pages of the documentation."""
