"""The commands about guests."""
