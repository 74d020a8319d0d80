"""The commands `tacit relay …`."""
