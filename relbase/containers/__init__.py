"""What is inside of a container: the parts of a message, as spans of its bytes."""
