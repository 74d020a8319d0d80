"""Where the MCP door touches the SDK, sockets and streams; imported late, since the SDK is heavy."""
