"""The agent's outside: its file, its connection, its questions to relays."""
