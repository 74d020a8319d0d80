"""`tacit agent demo`: the draft's dinner for two, or the game night for four, by agents of the product.

A2ACP-008, A2ACP-272. The dinner ends in a booking by a program; the game night is in `agent_demo_group`, and
what both stand on in `agent_demo_stage`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.agent.shell.commands.demo import group
from tacit.agent.shell.commands.demo.screen import JsonScreen, PaneScreen
from tacit.agent.shell.commands.demo.stage import ZONE, DemoBusy, DemoPart, stage
from tacit.agent.shell.commands.demo.talk import TalkScreen
from tacit.base.errors import Unavailable

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.shell.commands.demo.stage import DemoScreen

ALICE: Final = DemoPart(
    "alice",
    {
        "timezone": ZONE,
        "general_location_area": "central Reading",
        "dietary": "vegetarian",
        "budget_range": "GBP 20-40",
        "home_address": "17 Mill Lane",
    },
    (DemoBusy("17:00", "18:30", "piano lesson"),),
    ("budget_range",),
)
BOB: Final = DemoPart(
    "bob",
    {
        "timezone": ZONE,
        "general_location_area": "central Reading",
        "dietary": "no shellfish",
        "health_info": "new tablets, ask Dr Rao",
    },
    (DemoBusy("20:30", "23:00", "late shift"),),
)
_BOOK: Final = ("sh", "-c", 'cat > "$0.$1.json"')
"""The restaurant's side of the play: it writes down what it was asked for."""


async def dinner(folder: Path, screen: DemoScreen, pace: float) -> None:
    """The dinner in this folder."""
    async with stage(folder, (ALICE, BOB), screen, pace) as play:
        argv = [*_BOOK, str(folder / ALICE.name / "booking")]
        booking: Fields = {"kind": "command", "argv": argv, "for": ["dinner"], "reversible": True}
        await play.call(ALICE.name, "add_handler", name="book_table", definition=booking)
        await play.says(ALICE.name, f"dinner with bob on {play.weekday()} evening")
        for part in (ALICE, BOB):
            await play.consents(part)
        for part in (ALICE, BOB):
            await play.confirms(part)
        await play.completed()
        booked = json.loads((folder / ALICE.name / "booking.do.json").read_text("utf-8"))
        await play.tell("booked", ALICE.name, details=booked["details"])
        await play.left()


def show(keep: Path | None, pace: float | None, *, people: int, as_json: bool) -> None:
    """Play it, in a folder that is gone afterwards unless it is to be kept."""
    play, drawn = (dinner, PaneScreen) if people == 2 else (group.game_night, TalkScreen)
    screen = JsonScreen() if as_json else drawn()
    wait = pace if pace is not None else screen.pace
    folder = keep.resolve() if keep is not None else Path(tempfile.mkdtemp(prefix="tacit-demo-"))
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        asyncio.run(play(folder, screen, wait))
    except TimeoutError:
        raise Unavailable("the demo stood still for a minute; is this machine very busy?") from None
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    screen.end(folder if keep is not None else None)
