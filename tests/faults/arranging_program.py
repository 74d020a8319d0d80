"""A personal agent and its owner, made to be killed: `python -m tests.faults.arranging_program`, one JSON line a life.

Each life is a forked process on the agent's real folder, with a real line to the relay, and ends by SIGKILL at the
n-th point of its life: before and after each decision is written, each packet is handed to the post, each packet is
called handled, each action is done. The owner shares what is asked and says yes, and writes each answered question
down. The answer is a JSON line: the signal that ended the life, and how many points it saw.
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import signal
import sys

from tacit.a2acp.post.io.inbox import PacketInbox
from tacit.a2acp.post.io.outbox import Outbox
from tacit.agent.consent.answering import Answer
from tacit.agent.kernel.io.journal import Journal
from tacit.agent.scheduling.actions.io.calendar import CalendarHandler
from tacit.agent.scheduling.actions.io.command import CommandHandler
from tacit.agent.shell.io.agent import Agent

PATIENCE = 60


class Points:
    """Counts what happens, and ends the process at one of them."""

    def __init__(self, number: int, count: int) -> None:
        self._number = number
        self._count = count
        self._seen = 0

    def point(self) -> None:
        self._seen += 1
        os.pwrite(self._count, self._seen.to_bytes(8, "big"), 0)
        if self._seen == self._number:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: type, name: str) -> None:
        real = getattr(owner, name)
        if asyncio.iscoroutinefunction(real):

            async def aimed_async(*given, **more):
                self.point()
                found = await real(*given, **more)
                self.point()
                return found

            setattr(owner, name, aimed_async)
            return

        def aimed(*given, **more):
            self.point()
            found = real(*given, **more)
            self.point()
            return found

        setattr(owner, name, aimed)


def answered(folder: pathlib.Path) -> list[str]:
    path = folder / "answered.txt"
    return path.read_text().split() if path.exists() else []


def said_to(question: dict) -> Answer:
    """What a willing owner says: yes, and whatever is known."""
    plainly = {
        "checkpoint": Answer(confirm=True),
        "promotion": Answer(dismiss=True),
        "escalation": Answer(choose=0),
        "scope": Answer(confirm=True),
    }
    if question["kind"] in plainly:
        return plainly[question["kind"]]
    known = [field["field"] for field in question["fields"] if len(field["values"]) == 1]
    return Answer(share=dict.fromkeys(known)) if known else Answer(decline_all=True)


async def live(order: dict) -> None:
    folder = pathlib.Path(order["folder"])
    async with Agent(folder) as agent:
        if not agent.outside.handlers():
            booking = [sys.executable, "-m", "tests.faults.booking_program", str(folder / "bookings.txt")]
            await agent.add_handler("table", {"kind": "command", "argv": booking, "reversible": True})
        agent.connect()
        known = [one["thread_id"] for one in (await agent.threads(every=True))["threads"]]
        # The legs of a group are named after it.
        begun = [one for one in known if "/" not in one]
        if len(begun) < order["dinners"]:
            begun.append((await agent.ask(f"dinner on {order['day']} evening", order["to"]))["thread_id"])
        async with asyncio.timeout(PATIENCE):
            while agent.journal.book.threads[begun[-1]].state != "COMPLETED":
                for one in (await agent.pending())["questions"]:
                    assert one["question_id"] not in answered(folder), "an answered question came again"
                    await agent.answer(one["question_id"], said_to(one))
                    with (folder / "answered.txt").open("a") as notes:
                        notes.write(one["question_id"] + "\n")
                await agent.settle()
                await asyncio.sleep(0.01)
            while agent.post.outbox.waiting(limit=1):
                await asyncio.sleep(0.01)


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        count = os.memfd_create("points")
        child = os.fork()
        if child == 0:
            points = Points(order["number"], count)
            for owner, name in (
                (Journal, "append"), (Outbox, "post"), (PacketInbox, "handled"),
                (CalendarHandler, "do"), (CommandHandler, "do"),
            ):  # fmt: skip
                points.around(owner, name)
            asyncio.run(live(order))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        seen = int.from_bytes(os.pread(count, 8, 0), "big")
        os.close(count)
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        sys.stdout.write(json.dumps({"signal": ended, "points": seen}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
