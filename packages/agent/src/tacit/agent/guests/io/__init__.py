"""Links for people without an agent, and what comes back through the relay."""
