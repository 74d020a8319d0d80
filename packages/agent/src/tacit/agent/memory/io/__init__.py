"""What an owner can see, correct and have forgotten."""
