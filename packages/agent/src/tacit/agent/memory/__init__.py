"""What an agent remembers of each counterpart, as values."""
