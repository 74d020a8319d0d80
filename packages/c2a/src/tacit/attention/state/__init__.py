"""What attention remembers of a group, folded from its events, and what follows from it."""
