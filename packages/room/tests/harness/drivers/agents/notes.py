"""A tiny MCP server over stdio: a note that can be read, and one that cannot. It writes down who called.

Without the official package, which takes more than a second of a processor to import: agents start one for every
turn. `http_notes.py` is made with it.
"""

import json
import os
import sys

READ_NOTE = {
    "name": "read_note",
    "description": "Read a note.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def read_note(name):
    with open(os.environ["NOTES_LOG"], "a") as log:
        log.write(f"{os.environ['NOTES_TOKEN']} {name}\n")
    text = "this note is torn" if name == "torn" else f"the note {name} says blue"
    return {"content": [{"type": "text", "text": text}], "isError": name == "torn"}


def answer(method, params):
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }
        case "tools/list":
            return {"tools": [READ_NOTE]}
        case "tools/call":
            return read_note(**params["arguments"])
        case "ping":
            return {}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked["method"], asked.get("params"))
    told = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}) + "\n")
    sys.stdout.flush()
