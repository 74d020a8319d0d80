"""Ways to the agent from the process that serves its tools."""
