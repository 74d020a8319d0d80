"""Keys, sessions, signatures, backup: the only room with cryptography, and it knows nothing of the wire."""
