"""The relay's outside: its file, its sockets, its page."""
