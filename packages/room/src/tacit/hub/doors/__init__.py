"""The doors: HTTP, server-sent events, the WebSocket, C2A, MCP and the page. Each only translates."""
