"""The commands about shared spaces."""
