"""What the web room asks for beyond the ledger's own reads: rows for a screen, private talk, who is here.

Edits and deletions are records of the hub beside the message (C2A-189, C2A-214), which never changes. Every
view made here shows the newest text, and none of a deleted message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tacit.hub.operations import requests, views
from tacit.hub.operations.room import group_of
from tacit.ledger.codes import invalid
from tacit.ledger.envelope import emptied
from tacit.ledger.io import timeline
from tacit.ledger.io.timeline import Row, TimelinePlace

if TYPE_CHECKING:
    from tacit.hub.hub import RunningHub
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.state import Group


def shown_event(event: StoredEvent, *, deleted: bool) -> object:
    """An event's bytes; of a deleted message only where it stood (the ledger itself keeps it)."""
    if not deleted:
        return views.raw(event)
    return emptied(event)


def shown_row(row: Row) -> dict[str, Any]:
    """A row as JSON; what is empty is left out."""
    shown: dict[str, Any] = {"event": shown_event(row.event, deleted=row.deleted)}
    if row.event.private:
        shown["parties"] = sorted(row.event.parties())
    for name in ("reactions", "acknowledged", "owing", "replies", "deleted"):
        if value := getattr(row, name):
            shown[name] = value
    if row.root_id is not None:
        shown["root"] = row.root_id
    if row.quoted is not None:
        newest = row.quoted_edit or row.quoted
        text = "" if row.quoted_deleted else str(newest.data.get("text", ""))
        shown["quoted"] = {
            "event_id": row.quoted.event_id,
            "seq": row.quoted.seq,
            "by": row.quoted.by,
            "text": text[: timeline.QUOTE],
        }
    if row.edit is not None and not row.deleted:
        whole: dict[str, Any] = msgspec.json.decode(row.edit.raw)
        shown["edit"] = {"event_id": row.edit.event_id, "ts": whole["ts"], "text": whole["data"].get("text")}
    return shown


async def show_timeline(hub: RunningHub, credential: Credential, request: requests.TimelineRequest) -> object:
    """Rows of the room, of a private conversation, or of a thread."""
    chosen = (request.before_seq, request.after_seq, request.around_seq)
    if sum(one is not None for one in chosen) > 1 or (request.parties and request.root):
        raise invalid("name one of before_seq, after_seq, around_seq, and one of parties, root", "CCCS-104")
    group = await group_of(hub, credential, request.group_id)
    principal = credential.principal

    def query(reader: Reader) -> dict[str, Any]:
        place = _place(reader, group, principal, request)
        events, starts, ends = _stretch(reader, group, principal, place, request)
        rows = timeline.rows(reader, group, principal, events)
        return {
            "rows": [shown_row(row) for row in rows],
            "starts": starts,
            "ends": ends,
            "last_seq": group.last_seq,
        }

    return await hub.ledger.read(views.naming_damage(query))


def _place(reader: Reader, group: Group, principal: str, request: requests.TimelineRequest) -> TimelinePlace:
    if request.root is not None:
        event = reader.event(group, request.root, principal)
        return TimelinePlace(root=event.root or event.seq)
    return TimelinePlace(parties=frozenset(request.parties) if request.parties else None)


def _stretch(
    reader: Reader, group: Group, principal: str, place: TimelinePlace, request: requests.TimelineRequest
) -> tuple[list[StoredEvent], bool, bool]:
    """The events, and whether they reach the beginning and the end of the place."""
    limit = request.limit

    def go(start: int, count: int, *, back: bool) -> tuple[list[StoredEvent], bool]:
        return timeline.stretch(reader, group, principal, place, start=start, back=back, limit=count)

    if request.after_seq is not None:
        events, is_cut = go(request.after_seq, limit, back=False)
        return events, request.after_seq == 0, not is_cut
    if request.around_seq is not None:
        half = max(1, limit // 2)
        earlier, is_cut_before = go(request.around_seq, half, back=True)
        later, is_cut_behind = go(max(0, request.around_seq - 1), limit - half, back=False)
        return earlier + later, not is_cut_before, not is_cut_behind
    before = request.before_seq if request.before_seq is not None else group.last_seq + 1
    events, is_cut = go(before, limit, back=True)
    return events, not is_cut, before > group.last_seq


async def list_conversations(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """The private conversations that the caller may see, the newest first."""
    group = await group_of(hub, credential, request.group_id)
    found = await hub.ledger.read(lambda reader: timeline.privates(reader, group, credential.principal))
    return {
        "conversations": [
            {"parties": list(one.parties), "last_seq": one.last_seq, "received": list(one.received)}
            for one in found
        ]
    }


async def list_traces(hub: RunningHub, credential: Credential, request: requests.TracesRequest) -> object:
    """The CLowl traces of a group, the newest first."""
    group = await group_of(hub, credential, request.group_id)
    found = await hub.ledger.read(
        lambda reader: timeline.traces(reader, group, credential.principal, request.limit)
    )
    return {
        "traces": [{**one, "first": views.raw(one["first"]), "last": views.raw(one["last"])} for one in found]
    }


async def show_presence(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """Who follows the group now: `online`, or `away` when nobody looks at any of their connections."""
    await group_of(hub, credential, request.group_id)
    return hub.live.present(request.group_id)


async def find_rows(hub: RunningHub, credential: Credential, request: requests.SearchRequest) -> object:
    """Messages that contain every word as they stand now, newest first, as rows and as events."""
    group = await group_of(hub, credential, request.group_id)
    principal = credential.principal
    words = [word.casefold() for word in request.q.replace("\0", " ").split()]

    def query(reader: Reader) -> dict[str, Any]:
        found: dict[int, Row] = {}

        def fits(hit: StoredEvent) -> bool:
            """Does the message still say it? Found by two of its forms it is one."""
            event = timeline.original(reader, group, hit)
            if event is None or event.seq in found:
                return False
            [row] = timeline.rows(reader, group, principal, [event])
            if row.deleted or not _still_says(row, words):
                return False
            found[event.seq] = row
            return True

        kept = len(reader.search(group, principal, request.q, request.limit, fits))
        rows = sorted(list(found.values())[:kept], key=lambda row: -row.event.seq)
        return {"events": [_as_it_stands(row) for row in rows], "rows": [shown_row(row) for row in rows]}

    return await hub.ledger.read(views.naming_damage(query))


def _as_it_stands(row: Row) -> object:
    if row.edit is None:
        return views.raw(row.event)
    whole: dict[str, Any] = msgspec.json.decode(row.event.raw)
    return {**whole, "data": {**whole["data"], "text": row.edit.data.get("text", "")}}


def _still_says(row: Row, words: list[str]) -> bool:
    """An edit may have taken the words away that the index remembers."""
    if row.edit is None:
        return True
    text = str(row.edit.data.get("text", "")).casefold()
    return all(word in text for word in words)
