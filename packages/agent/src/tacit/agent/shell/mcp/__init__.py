"""The personal agent's tools for programs of its owner, over MCP."""
