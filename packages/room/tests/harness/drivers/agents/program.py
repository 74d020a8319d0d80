"""A program for the `command` driver: reads a turn, thinks, prints events and a reply."""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

from thinking import Mind, ModelFault, keep

CODES = {429: "rate_limited", 401: "signed_out", 400: "model_refused", 200: "rubbish"}


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def picture(file):
    data = base64.b64encode(Path(file["path"]).read_bytes()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{file['mime_type']};base64,{data}"}}


async def main():
    turn = json.load(sys.stdin)
    session = turn["session_id"] or f"s{os.getpid()}"
    file = Path(os.environ["SESSIONS"]) / session
    earlier = json.loads(file.read_text()) if file.exists() else []

    async def on_text(text):
        say(type="text", text=text)

    async def on_tool_started(call_id, name):
        say(type="tool_started", id=call_id, name=name)

    async def on_tool_ended(call_id, name, ok):
        say(type="tool_ended", id=call_id, name=name, ok=ok)

    mind = Mind(asyncio.to_thread, on_text, on_tool_started, on_tool_ended)
    messages = [
        {"role": "system", "content": turn["rules"]},
        *earlier,
        {"role": "user", "content": turn["prompt"]},
        *(
            {"role": "user", "content": [picture(file)]}
            for file in turn["files"]
            if file["name"].endswith("png")
        ),
    ]
    try:
        text = await mind.think(messages, turn["tools"])
    except ModelFault as fault:
        kind = "permanent" if fault.status in {400, 401} else "retryable"
        code = CODES.get(fault.status, "model_unavailable")
        say(
            type="reply",
            failure={"kind": kind, "code": code, "retry_after": int(fault.retry_after or 0) or None},
        )
        return
    keep(
        file, [*earlier, {"role": "user", "content": turn["prompt"]}, {"role": "assistant", "content": text}]
    )
    say(type="reply", text=text, usage=mind.usage, session_id=session)


asyncio.run(main())
