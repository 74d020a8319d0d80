"""Dinners of two engines, one after the other, with everything that was said and asked counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.agent.scheduling.desk import DAY, Desk, Desks

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields

BEFORE = ("context", "context_request", "context_response", "resolution")


@dataclass
class Dinner:
    """One dinner: its thread, and what it took until both owners stood before the proposal."""

    thread_id: str
    packets: dict[str, list[str]]
    questions: dict[str, int]
    checkpoint: Fields

    @property
    def sent(self) -> int:
        return sum(map(len, self.packets.values()))


def profile(name: str, **more: object) -> Fields:
    return {"timezone": "Europe/London", "dietary": f"{name} eats no meat", **more}


def pair(anna: Fields | None = None, ben: Fields | None = None, **more: object) -> Desks:
    own = {"location_preference": "central Reading", "transport_mode": "usually drives"}
    return Desks(
        Desk("anna", profile=profile("anna") if anna is None else anna, **more),
        Desk("ben", profile=profile("ben", **own) if ben is None else ben, **more),
    )


def dinner(both: Desks, text: str = "dinner with ben on Friday evening", *, promoted: bool = True) -> Dinner:
    """Anna's wish, each consent given and each offer to share always taken or not, up to its end."""
    people = {"anna": both.anna, "ben": both.ben}
    already = {name: len(one.sent) for name, one in people.items()}
    asked = dict.fromkeys(people, 0)
    thread_id = both.anna.ask(text, both.ben.me)
    while True:
        both.settle()
        open_now = [(name, one, found) for name, one in people.items() for found in one.questions("consent")]
        if not open_now:
            break
        for name, one, found in open_now:
            asked[name] += 1
            one.share_all(found)
    packets = {name: [packet.type for packet in one.sent[already[name] :]] for name, one in people.items()}
    shown = both.anna.content(both.anna.question("checkpoint"))
    both.confirmed()
    for one in people.values():
        for offer in one.questions("promotion"):
            one.answer(offer, confirm=promoted, dismiss=not promoted)
    return Dinner(thread_id, packets, asked, shown)


def dinners(both: Desks, count: int, **how: bool) -> list[Dinner]:
    """One every third day: all of them within what values are used for."""
    found: list[Dinner] = []
    for _ in range(count):
        found.append(dinner(both, "dinner with ben tomorrow evening", **how))
        both.later(3 * DAY)
    return found
