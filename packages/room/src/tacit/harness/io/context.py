"""What the parts of one agent's harness share: its session with the hub, its store, what it has seen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.errors import Refused
from tacit.base.moment import Moment
from tacit.c2a.tools import DURING, body_of
from tacit.harness.chat_tools import named, takes
from tacit.harness.naming import NamedAddressees, company, may_name, named_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from tacit.base.ports import Clock
    from tacit.c2a.io.session import AgentSession
    from tacit.c2a.messages import Delivered
    from tacit.harness.io.store import HarnessStore, StoreTransaction
    from tacit.harness.session_view import SessionView


MEMBERS: Final = "chat.members"


class Teller(Protocol):
    """Whoever wants to know what goes on; gets our own words and ids, never what anybody wrote."""

    def __call__(self, what: str, **data: object) -> None:
        """Something happened."""
        ...


def tell_nobody(what: str, **data: object) -> None:
    """The teller of a harness that nobody watches."""
    del what, data


@dataclass(slots=True)
class HarnessContext:
    """What the parts of one harness share."""

    name: str
    session: AgentSession
    store: HarnessStore
    view: SessionView
    clock: Clock
    tell: Teller = tell_nobody
    model: str = ""
    """The model that the agent was given, where it was named."""
    settings: Settings = DEFAULTS
    in_flight: set[str] = field(default_factory=set[str])
    """Keys of sends that somebody is making at this moment."""
    outgoing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the outbox has something."""
    shown_up_to: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """How far each audience's session has read each conversation, in this process."""
    showing: dict[str, tuple[tuple[str, str], int]] = field(
        default_factory=dict[str, tuple[tuple[str, str], int]]
    )
    """By turn: how far its session will have read its conversation, if it is answered."""
    read_in: dict[str, str] = field(default_factory=dict[str, str])
    """By audience: the session that has read so far."""
    unreached: dict[str, NamedAddressees] = field(default_factory=dict[str, NamedAddressees])
    """By audience: whom the last answer named in vain. Its model is told with the next turn."""
    whole: dict[str, Moment] = field(default_factory=dict[str, Moment])
    """Events after which their author has said nothing more, with when they came.

    They came as they happened, on this connection, from a hub that tells when an author goes on, and it has
    not told so.
    """

    asked: dict[str, str] = field(default_factory=dict[str, str])
    """Events whose answer is written and waits for a person's leave to be said, with a sentence on it."""

    ask_again: Callable[[Delivered, str], Awaitable[None]] | None = None
    """Has the model asked once more, with a note on why its answer may not be said."""
    work_changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a piece of work may stand otherwise than the hub was told."""

    def write(self, work: Callable[[StoreTransaction], None]) -> Coroutine[Any, Any, None]:
        """One synced transaction, off the loop."""
        return asyncio.to_thread(self.store.write, work)

    async def said(self, key: str, state: str, result: str = "") -> None:
        """Keep how a send went."""
        await self.write(lambda writing: writing.said(key, state, result))

    def offers(self, tool: str) -> bool:
        """Does the hub have this tool?"""
        return bool(named(tool, self.session.tools))

    async def read(self, tool: str, about: Delivered, **where: Any) -> dict[str, Any]:
        """A look around for an event's turn: what those who read its answer may know."""
        if takes(named(tool, self.session.tools), DURING):
            where[DURING] = about.event_id
        return await self.session.call(tool, **where)

    async def named(self, arguments: Mapping[str, Any], about: Delivered) -> NamedAddressees:
        """Whom the words of a send name; nobody where the hub does not say who is here."""
        if not may_name(arguments) or not self.offers(MEMBERS):
            return NamedAddressees()
        try:
            result = await self.read(MEMBERS, about)
        except Refused:
            return NamedAddressees()
        elsewhere = arguments.get("target") not in {None, about.reply_target}
        return named_in(
            body_of(arguments.get("content")),
            company(result.get("members")),
            me=self.name,
            about=about,
            elsewhere=elsewhere,
        )

    def describe(self, error: Any) -> dict[str, object]:
        """An error as a tool result's error object."""
        return {"code": error.code, "message": error.message, "details": dict(error.details)}
