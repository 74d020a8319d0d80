"""What an agent may say, and what its tool calls become."""
