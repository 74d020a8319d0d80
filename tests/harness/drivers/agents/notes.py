"""A tiny MCP server over stdio: a note that can be read, and one that cannot. It writes down who called."""

import os
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")


@server.tool()
def read_note(name: str) -> str:
    """Read a note."""
    with Path(os.environ["NOTES_LOG"]).open("a") as log:
        log.write(f"{os.environ['NOTES_TOKEN']} {name}\n")
    if name == "torn":
        raise ValueError("this note is torn")
    return f"the note {name} says blue"


server.run("stdio")
