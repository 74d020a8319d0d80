"""What one caller may take, and whose turn it is."""
