"""How a command asks the agent, and how what it says is shown."""
