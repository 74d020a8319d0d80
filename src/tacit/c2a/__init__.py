"""C2A's messages, tools, errors and both ends of its connection, typed: all that travels."""
