"""The reading tools: what a session pulls.

Rows: C2A-036, C2A-094, C2A-095, C2A-140, C2A-141, C2A-187, C2A-201, C2A-203, C2A-204. Permission is checked
at the moment of the pull; what the session may not read is left out of lists and refused on a direct look.
Texts are redacted and marked as untrusted; deleted ones are gone. Reading changes nothing.

A call that is made during a turn says which event the turn is about (`during`). Whoever reads the answer to
that event then bounds what is read: of private talk only what all of them may read, and for an answer in the
room none. The bound follows from the event in the ledger, not from what the caller says about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tacit.attention.decide.decision import is_listed
from tacit.attention.decide.delivery import content
from tacit.attention.read.conversation import MAIN, author_of
from tacit.attention.state.obligations import as_delivered
from tacit.attention.state.work import OFFLINE, AgentStatus
from tacit.base.errors import Refused
from tacit.base.moment import Moment, parse_rfc3339, rfc3339
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.messages import text_of, wire_content, wire_kind, wire_policy
from tacit.c2a.tools import BRIEF
from tacit.c2a.vocabulary import Policy
from tacit.ledger.cursor import Selection
from tacit.ledger.io.schema import SEQ_MASK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tacit.attention.decide.decision import Decision
    from tacit.attention.io.state_store import Archive
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.ledger.envelope import Event, StoredEvent
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.state import Group

MOST: Final = 200
USUAL: Final = 50
MARGIN: Final = 10
"""How many more messages are read at once than were asked for: some lie elsewhere."""
SCANNED: Final = 2_000
"""How many events one call looks at before it says where to go on."""
MOST_DIGITS: Final = len(str(SEQ_MASK))
BEGINNING: Final = 120
"""Characters of a message that say what somebody is at."""
_LISTED: Final = ("chat.message", "system.notify")
_EVERYTHING: Final = (0, None)


@dataclass(frozen=True, slots=True)
class Attendance:
    """Who is connected at this moment, which no ledger knows."""

    agents: Mapping[str, AgentStatus] = field(default_factory=dict[str, AgentStatus])
    """How each agent's harness stands, and what it says about it."""
    people: Mapping[str, str] = field(default_factory=dict[str, str])


class Pull:
    """One session's reading call."""

    def __init__(
        self,
        reader: Reader,
        group: Group,
        archive: Archive,
        session: str,
        version: str,
        during: StoredEvent | None = None,
    ) -> None:
        self._reader = reader
        self._group = group
        self._archive = archive
        self._session = session
        self._version = version
        self._during = during
        self._forms: dict[str, Event | None] = {}
        self._parsed: dict[str, ParsedMessage | None] = {}

    def _may_know(self, found: StoredEvent) -> bool:
        """May the session read it, and everybody who will read what comes of it?"""
        if not found.visible_to(self._session):
            return False
        return self._during is None or found.is_known_to_readers_of(self._during)

    def _may_know_all(self, event_ids: Iterable[str]) -> bool:
        stored = (self._archive.found(self._archive.original(event_id)) for event_id in event_ids)
        return all(event is not None and self._may_know(event) for event in stored)

    def _readable(self, event_id: str) -> Event | None:
        found = self._archive.found(event_id)
        return self._form(found) if found is not None else None

    def _form(self, found: StoredEvent) -> Event | None:
        """What a stored event says, if it may be known; looked up once in a call."""
        if found.event_id not in self._forms:
            form = self._archive.form_for(found, self._session) if self._may_know(found) else None
            self._forms[found.event_id] = form
        return self._forms[found.event_id]

    def _parse(self, event: Event, first: StoredEvent | None = None) -> ParsedMessage | None:
        """Each message is parsed once in a call; `first` is its first form, where that is at hand."""
        if event.id not in self._parsed:
            self._parsed[event.id] = self._archive.past.parsed(event, first)
        return self._parsed[event.id]

    def _decision(self, event: Event) -> Decision:
        return self._archive.decision(event, self._session, self._parse(event))

    def shown(self, event: Event) -> dict[str, Any]:
        """One message as a tool shows it, in its newest form."""
        attention = self._archive.attention
        latest, form = self._newest(event)
        parsed, aim = self._parse(form), self._decision(form)
        place = parsed.conversation if parsed is not None else None
        found = self._said(event, latest, form, place, aim)
        obligation = attention.obligations.get(latest, self._session)
        decision = as_delivered(aim, obligation)
        found["policy"] = wire_policy(decision.policy, self._version).value
        found["directedness"] = decision.directedness.value
        found["disposition"] = (
            obligation.disposition.value if obligation is not None and obligation.disposition else None
        )
        found["open"] = obligation is not None and not obligation.closed
        return found

    def _in_brief(self, event: Event, first: StoredEvent) -> dict[str, Any]:
        """Who said what, where and when; what it asks of whom is not looked at."""
        latest, form = self._newest(event)
        return self._said(event, latest, form, self._archive.past.place(form, first))

    def _said(
        self, event: Event, latest: str, form: Event, place: Conversation | None, aim: Decision | None = None
    ) -> dict[str, Any]:
        deleted = self._archive.attention.versions.is_deleted(event.id)
        found: dict[str, Any] = {
            "eventId": latest,
            "createdAt": form.ts,
            "sequence": event.seq,
            "content": "" if deleted else wire_content(content(form.data), self._version),
        }
        if place is not None:
            author = author_of(form)
            found["author"] = {
                "id": author.id,
                "kind": author.kind.value,
                "displayName": author.display_name,
            }
            kind = place.kind if aim is None else wire_kind(place.kind, aim.directedness, self._version)
            found["conversation"] = {"id": place.id, "kind": kind.value}
            if place.thread is not None:
                found["conversation"]["threadId"] = place.thread
        if latest != event.id:
            found["supersedes"] = event.id
        if deleted:
            found["deleted"] = True
        return found

    def _newest(self, event: Event) -> tuple[str, Event]:
        latest = self._archive.attention.versions.latest(event.id)
        form = self._archive.past.form(latest) if latest != event.id else event
        return latest, form or event

    def list_events(self, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """Events that this session may see, oldest first."""
        wanted = _Filter.of(arguments)
        if isinstance(wanted, Refusal):
            return wanted
        forward = wanted.cursor is not None or wanted.since is not None
        if wanted.open_only:
            walk = self._open(wanted, forward=forward)
        else:
            walk = self._forward(wanted) if forward else self._backward()
        events: list[dict[str, Any]] = []
        last = self._group.last_seq
        for looked, found in enumerate(walk, 1):
            last = found.seq
            shown = self._chosen(found, wanted)
            if shown is not None:
                events.append(shown)
            if len(events) == wanted.limit or looked == SCANNED:
                break
        else:
            last = self._group.last_seq
        if not forward:
            events.reverse()
            last = self._group.last_seq
        return {"events": events, "cursor": str(last)}

    def _forward(self, wanted: _Filter) -> Iterator[StoredEvent]:
        at: int | None = wanted.cursor
        since = wanted.since if at is None else None
        while True:
            page = self._reader.page(
                self._group,
                self._session,
                Selection(since_seq=at, since_ts=since, kinds=_LISTED, limit=MOST),
            )
            yield from page.events
            if not page.events or page.next_seq >= page.last_seq:
                return
            at, since = page.next_seq, None

    def _backward(self, at_first: int = MOST) -> Iterator[StoredEvent]:
        """The messages, newest first; as many as are likely to do are read at first."""
        before, many = self._group.last_seq + 1, at_first
        while window := self._reader.window(self._group, self._session, before, many):
            yield from reversed(window)
            before, many = window[0].seq, MOST

    def _open(self, wanted: _Filter, *, forward: bool) -> Iterator[StoredEvent]:
        """What this session has not answered, from its obligations, in the order of the other walks."""
        archive, after = self._archive, wanted.cursor or 0
        if wanted.cursor is None and wanted.since is not None:
            reported = Selection(since_ts=wanted.since, kinds=_LISTED, limit=1)
            page = self._reader.page(self._group, self._session, reported)
            after = page.events[0].seq - 1 if page.events else self._group.last_seq
        mine = (
            one.event_id for one in archive.attention.obligations if one.session == self._session and one.live
        )
        found = {one.seq: one for name in mine if (one := archive.found(archive.original(name))) is not None}
        kinds = _LISTED if forward else _LISTED[:1]
        for seq in sorted(found, reverse=not forward):
            if seq > after and found[seq].kind in kinds:
                yield found[seq]

    def _chosen(self, found: StoredEvent, wanted: _Filter) -> dict[str, Any] | None:
        event = self._form(found)
        if (
            event is None
            or event.by == self._session
            or self._archive.attention.versions.is_deleted(event.id)
        ):
            return None
        if not self._fits(event, wanted) or not is_listed(self._decision(event).mode):
            return None
        return self.shown(event)

    def _fits(self, event: Event, wanted: _Filter) -> bool:
        """Was it asked for? What is cheap to know is looked at first, and all of it before a text is made."""
        latest, form = self._newest(event)
        at = parse_rfc3339(form.ts) if wanted.until is not None else None
        if wanted.until is not None and at is not None and at > wanted.until:
            return False
        obligation = self._archive.attention.obligations.get(latest, self._session)
        if wanted.open_only and (obligation is None or obligation.closed):
            return False
        if wanted.policy is not None:
            decision = as_delivered(self._decision(form), obligation)
            if wire_policy(decision.policy, self._version) != wire_policy(wanted.policy, self._version):
                return False
        if wanted.conversation is None and wanted.stream is None:
            return True
        parsed = self._parse(form)
        place = parsed.conversation if parsed is not None else None
        return (wanted.conversation is None or (place is not None and place.id == wanted.conversation)) and (
            wanted.stream is None or (place is not None and place.stream == wanted.stream)
        )

    def read_thread(self, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """A thread or conversation window; silent lines of it are shown too (C2A-095)."""
        names = [
            name for name in ("threadId", "eventId", "conversationId") if arguments.get(name) is not None
        ]
        if not names and self._during is not None:
            arguments, names = {**arguments, "eventId": self._during.event_id}, ["eventId"]
        limit = _limit(arguments)
        if len(names) != 1 or limit is None or not isinstance(arguments[names[0]], str):
            return refusal(
                "invalid_request",
                "name one of threadId, conversationId, eventId; limit is 1 to 200",
                "C2A-141",
            )
        given: str = arguments[names[0]]
        bounds = self._bounds(arguments)
        if isinstance(bounds, Refusal):
            return bounds
        if names[0] == "conversationId":
            return self._conversation(given, bounds, limit)
        first = self._archive.original(given)
        found = self._archive.found(first)
        if found is None or found.kind not in _LISTED:
            return refusal("event_not_found", "there is no such thread", "C2A-141")
        if not self._may_know(found):
            return refusal("permission_denied", "this session may not read that conversation", "C2A-203")
        # What the answer's readers may not know takes no place in what is read for them.
        most = limit if bounds == _EVERYTHING and self._during is None else SCANNED
        thread = self._reader.thread(self._group, self._session, first, most)
        thread = [one for one in thread if self._may_know(one)]
        root = thread[0].event_id if thread else first
        return {"threadId": root, "events": self._window(thread, bounds, limit)}

    def read_channel(self, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """The last of a conversation; when none is named, of the one that the caller is at work in."""
        name, limit, bounds = arguments.get("conversationId"), _limit(arguments), self._bounds(arguments)
        if isinstance(bounds, Refusal):
            return bounds
        brief = arguments.get(BRIEF, False)
        if limit is None or not isinstance(name, str | None) or not isinstance(brief, bool):
            words = "conversationId is a text, brief is true or false; limit is 1 to 200"
            return refusal("invalid_request", words, "C2A-141")
        return self._conversation(name or self._place(), bounds, limit, brief=brief)

    def _place(self) -> str:
        """The conversation that the caller is at work in."""
        event = self._form(self._during) if self._during is not None else None
        place = self._archive.past.place(event) if event is not None else None
        return place.id if place is not None else MAIN

    def members(self, here: Attendance) -> dict[str, Any]:
        """Who is here, in which roles, who is busy and with what, as far as the answer's readers may know."""
        roster = self._archive.roster
        work = self._work()
        agents: list[dict[str, Any]] = []
        for agent in sorted(roster.agents):
            entry = roster.agents[agent]
            status, detail, about = here.agents.get(agent, OFFLINE)
            found: dict[str, Any] = {"id": agent, "kind": "agent", "names": list(entry.names)}
            roles = sorted({*entry.roles, *([entry.role] if entry.role else [])})
            found |= {"roles": roles, "status": status, "you": agent == self._session}
            found |= {"detail": detail} if detail and self._may_know_all(about) else {}
            found |= {"at": work[agent]} if agent in work else {}
            agents.append(found)
        people = [
            {
                "id": person,
                "kind": "human",
                "names": list(roster.people[person].names) if person in roster.people else [],
                "status": here.people.get(person, "offline"),
            }
            for person in sorted({*roster.people, roster.owner})
        ]
        return {"members": [*people, *agents]}

    def _work(self) -> dict[str, list[dict[str, Any]]]:
        """What each agent has taken on and not answered: where, since when, and how it begins."""
        found: dict[str, list[dict[str, Any]]] = {}
        for obligation in self._archive.attention.obligations:
            event = self._readable(obligation.event_id) if obligation.owed and obligation.accepted else None
            if event is not None:
                text = " ".join(text_of(content(event.data)).split())
                begins = text if len(text) <= BEGINNING else text[: BEGINNING - 1] + "…"
                one = {"eventId": event.id, "since": rfc3339(obligation.created_at), "text": begins}
                found.setdefault(obligation.session, []).append(one)
        return {agent: sorted(rows, key=lambda row: str(row["since"])) for agent, rows in found.items()}

    def _bounds(self, arguments: Mapping[str, Any]) -> tuple[int, int | None] | Refusal:
        """The positions between which `after` and `before` look."""
        found: list[int | None] = []
        for name in ("after", "before"):
            given = arguments.get(name)
            event = self._archive.found(self._archive.original(str(given))) if given is not None else None
            if given is not None and (event is None or not self._may_know(event)):
                return refusal("event_not_found", f"{name} names no event here", "C2A-141")
            found.append(event.seq if event is not None else None)
        return found[0] or 0, found[1]

    def _conversation(
        self, name: str, bounds: tuple[int, int | None], limit: int, *, brief: bool = False
    ) -> dict[str, Any] | Refusal:
        if name.startswith("dm:") and self._session not in name[3:].split("+"):
            return refusal("permission_denied", "this session may not read that conversation", "C2A-203")
        found: list[StoredEvent] = []
        known = False
        after, before = bounds
        for looked, one in enumerate(self._backward(limit + MARGIN)):
            event = self._form(one)
            place = self._archive.past.place(event, one) if event is not None else None
            if place is not None and place.id == name:
                known = True
                if after < one.seq and (before is None or one.seq < before):
                    found.append(one)
            if one.seq <= after or looked == SCANNED or (len(found) == limit and not after):
                break
        if not known and not name.startswith("dm:") and name != MAIN:
            return refusal("event_not_found", "there is no such conversation", "C2A-141")
        return {"conversationId": name, "events": self._window(found[::-1], bounds, limit, brief=brief)}

    def _window(
        self, found: list[StoredEvent], bounds: tuple[int, int | None], limit: int, *, brief: bool = False
    ) -> list[dict[str, Any]]:
        """What lies between: the first after a position, otherwise the last."""
        after, before = bounds
        chosen = [one for one in found if after < one.seq and (before is None or one.seq < before)]
        chosen = chosen[:limit] if after and before is None else chosen[-limit:]
        events = [(one, self._form(one)) for one in chosen]
        if brief:
            return [self._in_brief(event, one) for one, event in events if event is not None]
        return [self.shown(event) for _one, event in events if event is not None]

    def search(self, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """Messages with these words, newest first, as far as the session may read them."""
        query, limit = arguments.get("query"), _limit(arguments)
        if not isinstance(query, str) or not query.strip() or limit is None:
            return refusal("invalid_request", "query is a text; limit is 1 to 200", "C2A-140")
        try:
            found = self._reader.search(self._group, self._session, query, limit, self._stands)
        except Refused as refused:
            return refusal("invalid_request", refused.message, "C2A-140")
        events = (self._readable(self._archive.original(one.event_id)) for one in found)
        return {"events": [self.shown(event) for event in events if event is not None]}

    def _stands(self, found: StoredEvent) -> bool:
        """May it be known, and is it what its message says now?"""
        if not self._may_know(found):
            return False
        first = self._archive.original(found.event_id)
        versions = self._archive.attention.versions
        if versions.is_deleted(first) or versions.latest(first) != found.event_id:
            return False
        return self._readable(first) is not None


def _limit(arguments: Mapping[str, Any]) -> int | None:
    limit = arguments.get("limit", USUAL)
    fits = isinstance(limit, int) and not isinstance(limit, bool) and 1 <= limit <= MOST
    return limit if fits else None


def _position(given: object) -> int | None:
    """A place in the ledger, as a number or as its digits; None for what cannot be one."""
    if isinstance(given, str) and len(given) <= MOST_DIGITS and given.isdecimal():
        given = int(given)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= SEQ_MASK:
        return given
    return None


class _Filter:
    """What `chat.list_events` was asked for."""

    __slots__ = ("conversation", "cursor", "limit", "open_only", "policy", "since", "stream", "until")

    def __init__(self) -> None:
        self.limit = USUAL
        self.cursor: int | None = None
        self.since: Moment | None = None
        self.until: Moment | None = None
        self.policy: Policy | None = None
        self.stream: str | None = None
        self.conversation: str | None = None
        self.open_only = False

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> _Filter | Refusal:
        """The filter behind a call's arguments; anything that is not understood is refused."""
        made = cls()
        limit, cursor = _limit(arguments), _position(arguments.get("cursor"))
        policy = arguments.get("policy")
        times = {name: arguments.get(name) for name in ("since", "until")}
        parsed = {name: parse_rfc3339(value) for name, value in times.items() if isinstance(value, str)}
        wrong = [name for name, value in times.items() if value is not None and parsed.get(name) is None]
        wrong += ["limit"] if limit is None else []
        wrong += ["cursor"] if cursor is None and arguments.get("cursor") is not None else []
        wrong += [name for name in _WORDS if not isinstance(arguments.get(name), (str, type(None)))]
        wrong += ["policy"] if policy is not None and str(policy) not in set(Policy) else []
        wrong += [name for name in arguments if name not in FILTERS]
        if wrong or limit is None:
            return refusal("invalid_request", "a filter is not understood", "C2A-140", wrong=wrong)
        made.limit, made.cursor = limit, cursor
        made.since, made.until = parsed.get("since"), parsed.get("until")
        made.policy = Policy(policy) if policy is not None else None
        made.stream = arguments.get("streamId")
        made.conversation, made.open_only = arguments.get("conversationId"), arguments.get("openOnly") is True
        return made


_WORDS: Final = ("policy", "streamId", "conversationId")
FILTERS: Final = frozenset(
    {"streamId", "conversationId", "policy", "since", "until", "openOnly", "limit", "cursor"}
)
