"""The commands that find people."""
