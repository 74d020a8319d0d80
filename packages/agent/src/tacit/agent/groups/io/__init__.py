"""What an owner can ask about groups."""
