"""The MCP door: a room's chat tools for any agent that speaks the Model Context Protocol.

Served by `tacit.base.io.mcp_server` at two doors: `tacit mcp` over stdio, and `/mcp` on the hub. MCP
has no push, so such an agent pulls.
"""
