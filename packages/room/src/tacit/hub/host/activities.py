"""What agents do, passed on to the people who may see what it is about, and kept for nobody but latecomers.

The rule owned here: an update reaches those people alone who may read the event that the turn works on, by
the event's own rule (CCCS-110); an agent tells of its own turns about what was delivered to it, or it is not
heard. A running turn is remembered as it stands, bounded, for whoever comes late; when it ends, the ledger
gets its summary and nothing else. What is older is asked of the agent's own harness.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.attention.io.state_store import Archive
from tacit.attention.state import records
from tacit.attention.state.records import submitted
from tacit.base.errors import TacitError
from tacit.c2a.activity import MOST_ITEMS, Activity, ActivityWanted
from tacit.hub.nodes.codec import ShowTurns, TurnsFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.hub.host.dispatch import Link
    from tacit.hub.host.host import Host
    from tacit.hub.nodes.inquiries import Inquiries
    from tacit.hub.store.async_ledger import AsyncLedger
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader

ANSWER_WITHIN: Final = 5.0
"""Seconds that a harness has to show a record."""
CARD_BYTES: Final = 256_000
MOST_TURNS: Final = 16
"""Turns that one session can have under way."""
PER_SECOND: Final = 20
"""Updates of one agent that are passed on in a second; the rest is in the card that is asked for."""


@dataclass(slots=True)
class ActivityCard:
    """A running turn as it stands."""

    session: str
    turn: str
    event: StoredEvent
    about: str
    """The first form of the event: by that id people know an edited message."""
    update: int = 0
    items: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    size: int = 0
    window: tuple[int, int] = (0, 0)
    """A second, and how many updates were passed on in it."""

    def take(self, items: tuple[Mapping[str, Any], ...]) -> None:
        """Put things in their places; what is beyond the bounds loses its text and its files."""
        for item in items:
            if item["id"] not in self.items and len(self.items) >= MOST_ITEMS:
                continue
            self.size += _size(item) - _size(self.items.get(item["id"], {}))
            self.items[item["id"]] = item
        for item_id in list(self.items) if self.size > CARD_BYTES else ():
            if self.size <= CARD_BYTES:
                break
            item = self.items[item_id]
            self.size -= _size(item)
            self.items[item_id] = _cut(item)

    def may_pass(self, second: int) -> bool:
        """Is there room for one more update in this second?"""
        at, count = self.window
        self.window = (second, count + 1 if at == second else 1)
        return self.window[1] <= PER_SECOND

    def shown(self) -> dict[str, Any]:
        """As a person gets it."""
        return {
            "session": self.session,
            "turn": self.turn,
            "state": "running",
            "update": self.update,
            "items": list(self.items.values()),
        }


class Activities:
    """What the agents of one hub do at this moment."""

    def __init__(
        self,
        ledger: AsyncLedger,
        host: Host,
        show: Callable[[str, dict[str, Any], frozenset[str] | None], None],
    ) -> None:
        """`show`: to the people in a group; in private to the parties alone."""
        self._ledger = ledger
        self._host = host
        self._show = show
        self._cards: dict[tuple[str, str, str], ActivityCard] = {}
        """By room, session and turn."""
        self._summing = asyncio.Lock()
        self.inquiries: Inquiries | None = None
        """The way to the other nodes, where there are any, and agents that are connected there."""
        self._asked: dict[tuple[str, str, str], asyncio.Future[Activity]] = {}
        self._numbers = itertools.count(1)

    # -- what harnesses tell

    async def told(self, link: Link, told: Activity) -> None:
        """An update of a session's own turn, or its answer to a question of ours."""
        if told.answers:
            waiting = self._asked.get((link.group_id, link.session, told.answers))
            if waiting is not None and not waiting.done():
                waiting.set_result(told)
            return
        key = (link.group_id, link.session, told.turn)
        card = self._cards.get(key)
        if card is None or card.event.event_id != told.event_id:
            # Who may see it goes by the event of this very update, and not by that of one before.
            found = await self._event(link, told.event_id)
            if found is None:
                return
            card = ActivityCard(link.session, told.turn, *found)
            if told.state == "running":
                self._cards[key] = card
                self._drop_oldest(link)
        card.take(told.items)
        card.update = told.update or card.update
        second = int(asyncio.get_running_loop().time())
        if told.state == "ended" or card.may_pass(second):
            said = {
                "group_id": link.group_id,
                "session": link.session,
                "event_id": card.about,
                "turn": told.turn,
                "state": told.state,
                "update": told.update,
                "items": list(told.items),
            }
            self._show(link.group_id, said, card.event.parties() if card.event.private else None)
        if told.state == "ended":
            self._cards.pop(key, None)
            if told.summary is not None:
                await self._sum_up(link, told, card.event)

    def _drop_oldest(self, link: Link) -> None:
        """A session has so many turns under way at once; of more it has forgotten to tell the end."""
        mine = [key for key in self._cards if key[:2] == (link.group_id, link.session)]
        for key in mine[:-MOST_TURNS]:
            del self._cards[key]

    async def _event(self, link: Link, event_id: str) -> tuple[StoredEvent, str] | None:
        """The event that the turn is about, if it was given to this session, and its first form."""

        def query(reader: Reader) -> tuple[StoredEvent, str] | None:
            archive = Archive.on(reader, reader.group(link.group_id))
            found = archive.found(event_id)
            if found is None or not found.visible_to(link.session):
                return None
            if archive.attention.obligations.get(event_id, link.session) is None:
                return None
            return found, archive.attention.versions.first(event_id)

        return await self._ledger.read(query)

    async def _sum_up(self, link: Link, told: Activity, event: StoredEvent) -> None:
        """The turn in a few lines, once, for the ledger; whoever may read the event may read them."""
        record = records.TurnRecord(
            session=link.session, event_id=event.event_id, turn=told.turn, **dict(told.summary or {})
        )

        def is_known(reader: Reader) -> bool:
            attention = Archive.on(reader, reader.group(link.group_id)).attention
            known = attention.turns[event.event_id, link.session]
            return any(one.turn == told.turn for one in known)

        async with self._summing:  # an end that was not heard to arrive is told again
            if not await self._ledger.read(is_known):
                await self._ledger.append(submitted(link.group_id, [record])[0])

    def gone(self, link: Link) -> None:
        """A connection ended: its turns are told anew when it is back."""
        for key in [key for key in self._cards if key[:2] == (link.group_id, link.session)]:
            del self._cards[key]

    # -- what people ask

    async def cards(self, group_id: str, event_id: str) -> dict[str, Any]:
        """The turns about an event: those that run, and those that their harnesses kept; and who is away."""
        about, given = await self._ledger.read(lambda reader: _given(reader, group_id, event_id))
        if await self._ledger.read(lambda reader: _is_deleted(reader, group_id, event_id)):
            # A harness that was away when it was taken back is told now.
            return {"cards": [], "away": (await self.forget(group_id, event_id))["away"]}
        found = await self._found(ShowTurns(group_id, about, given))
        cards = [card for one in found for card in one.running]
        turns: set[tuple[str, str]] = set()
        for card in (card for one in found for card in one.kept):
            # A turn about an edited message is known by each of its forms.
            name = (card["session"], str(card.get("turn", "")))
            if name not in turns:
                turns.add(name)
                cards.append(card)
        return {"cards": cards, "away": _away(given, found)}

    async def _found(self, asked: ShowTurns) -> list[TurnsFound]:
        """What is known here, and of sessions that are not connected here at other nodes."""
        absent = [one for one in asked.given if self._link(asked.group_id, one[0]) is None]
        if self.inquiries is None or not absent:
            return [await self.here(asked)]
        there = self.inquiries.ask(msgspec.structs.replace(asked, given=absent), ANSWER_WITHIN + 1.0)
        here, others = await asyncio.gather(self.here(asked), there)
        return [here, *(one for one in others if isinstance(one, TurnsFound))]

    async def here(self, asked: ShowTurns) -> TurnsFound:
        """What this hub knows: what runs, and what the harnesses that are connected to it kept."""
        mine = [one for one in asked.given if self._link(asked.group_id, one[0]) is not None]
        running = [
            card.shown()
            for key, card in self._cards.items()
            if key[0] == asked.group_id and card.about == asked.about
        ]
        kept = await asyncio.gather(*(self._kept(asked.group_id, *one, forget=asked.forget) for one in mine))
        answers = [(session, found) for (session, _), found in zip(mine, kept, strict=True)]
        silent = {session for session, found in answers if found is None}
        cards = [{"session": session, **one} for session, found in answers if found for one in found.cards]
        reached = [session for session, _ in answers if session not in silent]
        return TurnsFound(running, cards, list(dict.fromkeys(reached)))

    def _link(self, group_id: str, session: str) -> Link | None:
        link = self._host.link(group_id, session)
        return link if link is not None and link.was_greeted else None

    async def _kept(
        self, group_id: str, session: str, event_id: str, *, forget: bool = False
    ) -> Activity | None:
        link = self._link(group_id, session)
        if link is None:
            return None
        key = (group_id, session, f"activity-{next(self._numbers)}")
        self._asked[key] = waiting = asyncio.get_running_loop().create_future()
        try:
            link.notify(ActivityWanted(event_id, key[2], forget))
            async with asyncio.timeout(ANSWER_WITHIN):
                return await waiting
        except (TimeoutError, TacitError):
            return None
        finally:
            del self._asked[key]

    async def forget(self, group_id: str, event_id: str) -> dict[str, Any]:
        """Have every harness forget its record of the turns about an event; who could not be reached."""
        about, given = await self._ledger.read(lambda reader: _given(reader, group_id, event_id))
        away = _away(given, await self._found(ShowTurns(group_id, about, given, forget=True)))
        sessions = dict.fromkeys(session for session, _ in given)
        return {"forgotten": [one for one in sessions if one not in away], "away": away}


def within(found: TurnsFound, most: int) -> TurnsFound:
    """The same for another node; where it is more than so much, without texts and files."""
    cards = [*found.running, *found.kept]
    if sum(_size(item) for card in cards for item in card.get("items", ())) <= most:
        return found
    running, kept = ([_short(card) for card in some] for some in (found.running, found.kept))
    return TurnsFound(running, kept, found.reached)


def _short(card: Mapping[str, Any]) -> dict[str, Any]:
    return {**card, "items": [_cut(item) for item in card.get("items", ())]}


def _cut(item: Mapping[str, Any]) -> dict[str, Any]:
    """A thing without what it can lose."""
    return {**{name: item[name] for name in item if name not in {"text", "files"}}, "cut": True}


def _away(given: Iterable[tuple[str, str]], found: Iterable[TurnsFound]) -> list[str]:
    """Which sessions no node has reached."""
    reached = {session for one in found for session in one.reached}
    return list(dict.fromkeys(session for session, _ in given if session not in reached))


def _size(item: Mapping[str, Any]) -> int:
    """How much of a card one thing takes up that it can lose."""
    return len(item.get("text", "")) + sum(map(len, item.get("files", ())))


def _is_deleted(reader: Reader, group_id: str, event_id: str) -> bool:
    return Archive.on(reader, reader.group(group_id)).attention.versions.is_deleted(event_id)


def _given(reader: Reader, group_id: str, event_id: str) -> tuple[str, list[tuple[str, str]]]:
    """The first form of a message, and to which sessions it was given in which form."""
    attention = Archive.on(reader, reader.group(group_id)).attention
    first = attention.versions.first(event_id)
    forms = dict.fromkeys((first, event_id, attention.versions.latest(event_id)))
    return first, [(one.session, form) for form in forms for one in attention.obligations.of_event(form)]
