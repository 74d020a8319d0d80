"""Commands of talk: sending, reading, steering, and what agents did about a message."""
