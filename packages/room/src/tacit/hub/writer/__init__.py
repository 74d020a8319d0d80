"""The way to a writer in a process of its own."""
