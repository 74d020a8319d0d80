"""A program for the `command` driver that does what a test wrote down for it.

Its desk is a folder: `script.json` has a list of steps for each turn (the last list serves all further turns);
`turns/N.json` is what turn N was given; `results.jsonl` what its tools said.
"""

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

DESK = Path(sys.argv[1])
PARENT = os.getppid()


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def number_of(turn):
    """Which turn this is, written down at once."""
    (DESK / "turns").mkdir(exist_ok=True)
    for number in itertools.count():
        try:
            handle = os.open(DESK / "turns" / f"{number}.part", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            continue
        with os.fdopen(handle, "w") as file:
            json.dump(turn, file)
        os.link(DESK / "turns" / f"{number}.part", DESK / "turns" / f"{number}.json")
        return number
    raise AssertionError


class Tools:
    """The chat tools over MCP."""

    def __init__(self, server):
        self.process = subprocess.Popen(
            server["command"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **server["environment"]},
        )
        self.count = itertools.count(1)
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        self.ask("initialize", hello)

    def ask(self, method, params):
        number = next(self.count)
        line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == number
        return answer.get("result", answer.get("error"))

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def main():
    turn = json.load(sys.stdin)
    script = json.loads((DESK / "script.json").read_text())
    number = number_of(turn)
    steps = script[min(number, len(script) - 1)]
    tools = None
    for place, step in enumerate(steps):
        if "until" in step:
            while not (DESK / step["until"]).exists():
                time.sleep(0.01)
                if os.getppid() != PARENT:
                    sys.exit("nobody waits for this any more")
        if "tool" in step:
            tools = tools or Tools(turn["tools"][0])
            call = f"{number}.{place}"
            say(type="tool_started", id=call, name=f"tacit.{step['tool']}")
            result = tools.ask("tools/call", {"name": step["tool"], "arguments": step.get("arguments", {})})
            with (DESK / "results.jsonl").open("a") as file:
                file.write(json.dumps(result) + "\n")
            say(type="tool_ended", id=call, name=f"tacit.{step['tool']}", ok=not result.get("isError"))
        if "list_tools" in step:
            tools = tools or Tools(turn["tools"][0])
            (DESK / "tools.json").write_text(json.dumps(tools.ask("tools/list", {})))
        if "work" in step:
            say(type="tool_started", id=f"w{place}", name=step["work"])
            while "done" in step and not (DESK / step["done"]).exists():
                time.sleep(0.01)
            say(type="tool_ended", id=f"w{place}", name=step["work"], ok=True)
        if "touch" in step:
            (DESK / step["touch"]).touch()
        if "exit" in step:
            sys.exit(step["exit"])
        if "text" in step or "failure" in step:
            say(type="reply", **step)
    if tools:
        tools.close()


main()
