"""The agent from outside: process, page, socket, MCP and command line, over one list of operations."""
