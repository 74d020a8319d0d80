"""What is done in the world once everybody has confirmed."""
