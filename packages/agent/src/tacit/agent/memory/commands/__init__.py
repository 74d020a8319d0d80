"""The commands about what is remembered."""
