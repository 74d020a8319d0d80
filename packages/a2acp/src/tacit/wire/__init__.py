"""The outer layer of A2ACP: all that a relay may see, and nothing of what it carries."""
