"""The C2A host: sessions, their deliveries and their tools, on any transport."""
