"""A personal agent in a room: what the room lends it, contributed to `tacit agent`."""
