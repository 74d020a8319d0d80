"""The shells of the protocol: its sockets, and what waits for answers."""
