"""The doors: HTTP, server-sent events and the WebSocket. Each only translates."""
