"""What reads and writes language for an agent: the port, and rules that need no model."""
