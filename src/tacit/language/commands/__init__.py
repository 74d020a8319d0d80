"""The commands `tacit clowl …`."""
