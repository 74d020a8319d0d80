"""The commands `tacit agent …`."""
