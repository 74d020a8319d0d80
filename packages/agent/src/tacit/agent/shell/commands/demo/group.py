"""The game night of `tacit agent demo --people 4`: Friday with all four beats Saturday with three.

A2ACP-054, A2ACP-173, A2ACP-176, A2ACP-177, A2ACP-178, A2ACP-179. Alice's agent asks three others, adds their
answers up and finds that it would be all four if Charlie could be had; so Charlie alone is asked to bend.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.agent.shell.commands.demo.stage import ZONE, DemoBusy, DemoPart, stage, write_calendar

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.agent.shell.commands.demo.stage import DemoScreen, Stage

ALICE: Final = DemoPart("alice", {"timezone": ZONE, "home_address": "17 Mill Lane"})
BOB: Final = DemoPart(
    "bob", {"timezone": ZONE, "budget_range": "GBP 20-40"}, (DemoBusy("17:00", "19:00", "choir"),)
)
CHARLIE: Final = DemoPart(
    "charlie",
    {"timezone": ZONE, "health_info": "new tablets, ask Dr Rao"},
    (DemoBusy("17:00", "23:30", "climbing"), DemoBusy("12:00", "23:30", "a wedding in Leeds", 1)),
)
DIANA: Final = DemoPart("diana", {"timezone": ZONE, "dietary": "vegetarian"})
PARTS: Final = (ALICE, BOB, CHARLIE, DIANA)


def wish(first: str, second: str) -> str:
    """What Alice says, with the days that it is about."""
    return f"game night on {first} or {second} evening"


async def game_night(folder: Path, screen: DemoScreen, pace: float) -> None:
    """The game night in this folder."""
    async with stage(folder, PARTS, screen, pace) as play:
        await play.says(ALICE.name, wish(play.weekday(), play.weekday(1)), *(one.name for one in PARTS[1:]))
        for part in PARTS[1:]:
            await play.consents(part)
        await play.question(ALICE.name, "consent")
        await play.packets()
        await _sums(play)
        await play.consents(ALICE)
        await _bends(play, folder / CHARLIE.name)
        for part in PARTS:
            await play.confirms(part)
        await play.completed()
        await play.left()


async def _sums(play: Stage) -> None:
    """What the answers come to, as the coordinator's owner sees it: derived, nobody's own values."""
    found = await play.call(ALICE.name, "group", thread_id=play.thread_id)
    shown = {name: found[name] for name in ("windows", "trade_off", "binding")}
    await play.tell("sums", ALICE.name, **shown)


async def _bends(play: Stage, folder: Path) -> None:
    """The one who binds is asked, and nobody else; the first evening is made free for it."""
    question = await play.question(CHARLIE.name, "escalation")
    await play.packets()
    others = [one.name for one in PARTS if one is not CHARLIE]
    pending = {one: (await play.call(one, "pending"))["questions"] for one in others}
    await play.tell("asked", CHARLIE.name, question=question, others_asked=sum(map(len, pending.values())))
    number = next(place for place, one in enumerate(question["choices"]) if one.startswith(play.weekday()))
    # A person's deed outside the agent: the climbing is another day's now.
    moved = replace(CHARLIE, busy=(replace(CHARLIE.busy[0], day=-1), CHARLIE.busy[1]))
    write_calendar(folder, moved, play.day)
    await play.tell(
        "answers",
        CHARLIE.name,
        chooses=question["choices"][number],
        moves=f"{CHARLIE.busy[0].what} to {play.weekday(-1)}",
        command=f"tacit agent answer … --choose {number}",
    )
    await play.call(CHARLIE.name, "answer", question_id=question["question_id"], choose=number)
    await play.packets(CHARLIE.name)
    await play.question(ALICE.name, "checkpoint")
    await _sums(play)
    await play.packets()
