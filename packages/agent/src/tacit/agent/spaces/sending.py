"""The way out of a space: what is written here goes to every member, or, uncleared for one, to nobody.

A2ACP-200, A2ACP-201, A2ACP-202, A2ACP-203, A2ACP-204.

A write is one decision for all members: the filter of consent is asked for each of them, and the strictest
answer holds. What is not cleared for all is a question, and stands nowhere before its answer; what never goes
is refused. Written versions wait (`Cell.pending`) until the line is there, so that several edits of a field
while it is away are one update.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent.tiers import Tier, ready, tier
from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.packets.vocabulary import LAST_WRITE_WINS
from tacit.agent.consent import sending
from tacit.agent.kernel import records
from tacit.agent.kernel.state import Question
from tacit.agent.spaces import compare, merge
from tacit.agent.spaces import records as said
from tacit.agent.spaces.fields import MOST_FIELDS
from tacit.agent.spaces.fold import SpaceTables
from tacit.agent.spaces.levels import may_write
from tacit.agent.spaces.state import JOINED, KEPT_CHANGES, Cell, Member, Space
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, rfc3339
from tacit.base.strict_json import as_object, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.a2acp.consent.scan import Scanner
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.spaces.merge import Change, Version

WRITE: Final = "space_write"
MEMBER: Final = "space_member"
INVITE: Final = "space_invite"
KINDS: Final = frozenset({WRITE, MEMBER, INVITE})
"""The questions of spaces."""
VAULT: Final = "space:"
"""What every value of a space is named by in the vault; theirs is as long as the space."""
MOST_BYTES: Final = 40_000
"""Of changes in one packet."""
TOMBSTONES: Final = 30 * 24 * 3600 * SECOND
"""How long a deleted field is remembered when there is no room: as long as a relay keeps a packet."""
NO: Final = "!"
"""Before the hash of a consent name that the owner has refused to a member."""


# Names.


def thread_of(space_id: str, one: str, other: str) -> str:
    """The thread that is the space's own between two members (A2ACP-201); it tells nobody else anything."""
    seed = canonical([space_id, *sorted((one, other))])
    return "thr_" + base64.b32encode(hashlib.sha256(seed).digest()).decode("ascii").lower()[:26]


def key_of(ws: Workspace, space_id: str, path: str, author: str) -> str:
    """By which the journal names an author's version of a field."""
    return ws.values.keyed_hash(canonical([space_id, path, author]))


def _former_key(ws: Workspace, space_id: str, path: str) -> str:
    """The same from when a replica held one version of a field, whoever wrote it."""
    return ws.values.keyed_hash(canonical([space_id, path]))


def value_name(space_id: str, key: str) -> str:
    """Under which a field's path and value lie in the vault."""
    return f"{VAULT}{space_id}:{key}"


def entry_name(space_id: str, entry: int) -> str:
    """Under which an entry of the change list lies there."""
    return f"{VAULT}{space_id}:e{entry % KEPT_CHANGES}"


def title_name(space_id: str) -> str:
    """Under which its title lies there."""
    return f"{VAULT}{space_id}:title"


def mark_of(ws: Workspace, space_id: str, change: Change) -> str:
    """Our own keyed hash of a version, by which we know it again."""
    what = [space_id, change.field, change.v, int(change.at), change.deleted, change.value]
    return ws.values.keyed_hash(canonical(what))


# Reading.


def space_of(ws: Workspace, space_id: str, *, joined: bool = True) -> Space:
    """A space of ours; `Refused` for one that is none."""
    found = ws.book.part(SpaceTables).spaces.get(space_id)
    if found is None or (joined and found.status != JOINED):
        raise Refused("unknown_space", "this agent keeps no such space", row="A2ACP-197")
    return found


def versions(ws: Workspace, space_id: str) -> dict[str, dict[str, Cell]]:
    """Of each field by its path, the newest version of each author; none whose content is gone."""
    by_path: dict[str, dict[str, Cell]] = {}
    for space, key in list(ws.book.part(SpaceTables).space_cells):
        kept = ws.read(value_name(space_id, key)) if space == space_id else None
        if kept is not None:
            _add(
                by_path.setdefault(str(kept["field"]), {}), ws.book.part(SpaceTables).space_cells[space, key]
            )
    return by_path


def written_by(ws: Workspace, space_id: str, author: str) -> dict[str, Cell]:
    """What one author wrote, by path: its newest version of each field, whether it stands or not."""
    return {path: cells[author] for path, cells in versions(ws, space_id).items() if author in cells}


def versions_of(ws: Workspace, space_id: str, path: str) -> dict[str, Cell]:
    """The same of one field."""
    keys = [key_of(ws, space_id, path, author) for author in space_of(ws, space_id, joined=False).members]
    cells: dict[str, Cell] = {}
    for key in (_former_key(ws, space_id, path), *keys):
        cell = ws.book.part(SpaceTables).space_cells.get((space_id, key))
        if cell is not None and ws.read(value_name(space_id, key)) is not None:
            _add(cells, cell)
    return cells


def _add(cells: dict[str, Cell], cell: Cell) -> None:
    """A field may be held in the former way and in today's: its newer version counts."""
    if cell.by not in cells or merge.version(cells[cell.by]) <= merge.version(cell):
        cells[cell.by] = cell


def standing(ws: Workspace, space_id: str, cells: Mapping[str, Cell]) -> Cell | None:
    """Which of the versions of a field stands."""
    members = space_of(ws, space_id, joined=False).members
    return merge.standing(
        tuple(cells.values()), lambda author: members[author].level if author in members else ""
    )


def held(ws: Workspace, space_id: str) -> dict[str, Cell]:
    """The fields of a space by their paths, each with the version that stands."""
    found = {path: standing(ws, space_id, cells) for path, cells in versions(ws, space_id).items()}
    return {path: cell for path, cell in found.items() if cell is not None}


def value_of(ws: Workspace, space_id: str, path: str) -> Any:
    """What a field holds; None when it holds nothing."""
    cell = standing(ws, space_id, versions_of(ws, space_id, path))
    return None if cell is None else _value(ws, space_id, path, cell)


def _value(ws: Workspace, space_id: str, path: str, cell: Cell) -> Any:
    """What a version of a field says."""
    for key in (key_of(ws, space_id, path, cell.by), _former_key(ws, space_id, path)):
        kept, there = (
            ws.read(value_name(space_id, key)),
            ws.book.part(SpaceTables).space_cells.get((space_id, key)),
        )
        if kept is not None and there is not None and merge.version(there) == merge.version(cell):
            return as_object(kept).get("value")
    return None


def own_change(ws: Workspace, space_id: str, path: str, cell: Cell) -> Fields:
    """A version of a field as it travels."""
    found: Fields = {"field": path, "v": cell.v, "at": rfc3339(cell.at), "mark": cell.mark}
    if cell.begun != cell.at:
        found["since"] = rfc3339(cell.begun)
    return found | ({"deleted": True} if cell.deleted else {"value": _value(ws, space_id, path, cell)})


# Writing.


def keep_version(ws: Workspace, space_id: str, change: Change, author: str, *, pending: bool = False) -> bool:
    """Keep an author's newest version, in the replica and in the change list; does it stand?"""
    key = key_of(ws, space_id, change.field, author)
    number = ws.book.part(SpaceTables).spaces[space_id].changes + 1
    content: Fields = {"field": change.field}
    if not change.deleted:
        content["value"] = change.value
    cells = versions_of(ws, space_id, change.field)
    kept = Cell(change.v, change.at, author, since=change.since)
    stands = standing(ws, space_id, {**cells, author: kept}) == kept
    ws.keep(author, content, name=value_name(space_id, key))
    keep_entry(ws, space_id, number, change, author, lost=not stands)
    ws.say(
        said.SpaceWritten(
            space_id, key, change.v, change.at, author, deleted=change.deleted,
            mark=change.mark, pending=pending, entry=number, since=change.since,
        )
    )  # fmt: skip
    former = _former_key(ws, space_id, change.field)
    if (
        old := ws.book.part(SpaceTables).space_cells.get((space_id, former))
    ) is not None and old.by == author:
        ws.say(said.SpaceDropped(space_id, (former,)))
    return stands


def keep_entry(
    ws: Workspace, space_id: str, number: int, change: Change, author: str, *, lost: bool = False
) -> None:
    """Keep one entry of the change list, with its value."""
    entry: Fields = {
        "n": number,
        "field": change.field,
        "v": change.v,
        "at": rfc3339(change.at),
        "by": author,
    }
    entry |= {"deleted": True} if change.deleted else {"value": change.value}
    ws.keep(author, entry | ({"lost": True} if lost else {}), name=entry_name(space_id, number))


def room_for(ws: Workspace, space_id: str) -> bool:
    """Whether a space may have one field more; old tombstones make room."""
    mine = [
        (key, ws.book.part(SpaceTables).space_cells[space, key])
        for space, key in list(ws.book.part(SpaceTables).space_cells)
        if space == space_id
    ]
    if len(mine) < MOST_FIELDS:
        return True
    old = tuple(key for key, cell in mine if cell.deleted and ws.now - cell.at > TOMBSTONES)
    if old:
        ws.say(said.SpaceDropped(space_id, old))
    return bool(old)


def write(ws: Workspace, space_id: str, written: Sequence[tuple[str, Any]], *, deleted: bool = False) -> str:
    """Write fields of a space, or ask first; the id of the question, empty when they are written."""
    space = space_of(ws, space_id)
    for path, _ in written:
        _check_level(ws, space, path)
    if not deleted:
        names, who = _uncleared(ws, space, written)
        if names:
            return _ask(ws, space, WRITE, who, names, written)
    for path, value in written:
        _write_one(ws, space, path, value, deleted=deleted)
    return ""


def _check_level(ws: Workspace, space: Space, path: str) -> None:
    cells = versions_of(ws, space.space_id, path)
    owner = ws.me if _was_ours(cells, ws.me) else merge.owner(cells.values())
    if not may_write(space.members[ws.me].level, owner=owner, author=ws.me):
        raise Refused("write_level", "your level in this space does not let you write this", row="A2ACP-203")


def _was_ours(cells: Mapping[str, Cell], me: str) -> bool:
    """Did we create a field that others wrote last, before versions were kept by author?"""
    return me not in cells and any(cell.owner == me for cell in cells.values())


def _write_one(ws: Workspace, space: Space, path: str, value: Any, *, deleted: bool) -> None:
    space_id = space.space_id
    cells = versions_of(ws, space_id, path)
    cell = standing(ws, space_id, cells)
    if cell is None and (deleted or not room_for(ws, space_id)):
        code = "unknown_field" if deleted else "space_full"
        raise Refused(
            code, "the space has no such field" if deleted else "the space has no room for more fields"
        )
    # What was not told to anybody yet is still the same update.
    count = 1 if cell is None else cell.v if cell.pending and cell.by == ws.me else cell.v + 1
    if count > merge.highest_count(space.created, ws.now):
        raise Refused("too_fast", "this field was written too often; try again in a moment", row="A2ACP-200")
    since = ws.now
    if ws.me in cells:
        since = cells[ws.me].begun
    elif _was_ours(cells, ws.me):
        since = space.created
    change = merge.Change(path, None if deleted else value, deleted, count, ws.now, "", since)
    change = change._replace(mark=mark_of(ws, space_id, change))
    keep_version(ws, space_id, change, ws.me, pending=True)


# Consent.


def _hashed(ws: Workspace, name: str) -> str:
    return ws.values.keyed_hash(canonical(["name", name]))


def _body(space_id: str, changes: Iterable[Fields], **more: Any) -> Fields:
    return {"space_id": space_id, "changes": list(changes), **more}


def _judged(ws: Workspace, space: Space, peer: str, body: Fields) -> tuple[dict[str, str], list[str]]:
    """What our owner has approved of a body for a member, and the names that it has not.

    `Refused` for what never goes. Each round may open a field within which others are to be asked for.
    """
    approved: dict[str, str] = {}
    open_names: list[str] = []
    released = space.released.get(peer, ())
    while True:
        assumed = approved | dict.fromkeys(open_names, sending.USER_APPROVED)
        found = consent.examine(
            body, schemas.SPACE_UPDATE, ws.policy, peer, assumed, members=_everyone(space)
        )
        if found.withheld:
            raise Refused(
                "never_shared",
                "the field is one that you share with nobody, or not with this member",
                row="A2ACP-204",
            )
        fresh = [one.field for one in found.held if one.field not in assumed]
        if not fresh:
            break
        for name in dict.fromkeys(fresh):
            if _hashed(ws, name) in released:
                approved[name] = sending.USER_APPROVED
            else:
                open_names.append(name)
    said_aloud = _scanned(ws, peer, body, approved | dict.fromkeys(open_names, sending.USER_APPROVED))
    for name in said_aloud:
        if tier(ws.policy, name, peer) is Tier.NEVER:
            raise Refused(
                "never_shared",
                "the value is one that you share with nobody, or not with this member",
                row="A2ACP-204",
            )
        if _hashed(ws, name) in released:
            approved[name] = sending.USER_APPROVED
        elif name not in open_names:
            open_names.append(name)
    return approved, open_names


def _scanned(ws: Workspace, peer: str, body: Fields, approved: Mapping[str, str]) -> list[str]:
    """Fields of our owner whose values stand in a body, under whatever name."""
    secret = _scanner(ws, peer)
    chains = ready(ws.policy)
    opened = frozenset(one for name in approved for one in chains.chain(name))
    hits = secret.hits(body, cleared=lambda name: not opened.isdisjoint(chains.chain(name)))
    return sorted({chains.chain(one)[-1] for one in hits})


def _scanner(ws: Workspace, peer: str) -> Scanner:
    return sending.scanner_for(ws, peer, {}, {})


def _everyone(space: Space) -> frozenset[str]:
    return frozenset(space.members)


def _uncleared(
    ws: Workspace, space: Space, written: Sequence[tuple[str, Any]]
) -> tuple[list[str], list[str]]:
    """Which names would have to be asked for, and for whom."""
    body = _body(space.space_id, ({"field": path, "value": value} for path, value in written))
    names: dict[str, None] = {}
    who: list[str] = []
    for peer in space.present(besides=ws.me):
        _, asked = _judged(ws, space, peer, body)
        if asked:
            names |= dict.fromkeys(asked)
            who.append(peer)
    return list(names), who


def _ask(
    ws: Workspace,
    space: Space,
    kind: str,
    who: Sequence[str],
    names: Sequence[str],
    written: Sequence[tuple[str, Any]],
) -> str:
    """Ask the owner whether fields may be known to members of a space."""
    content: Fields = {
        "space_id": space.space_id,
        "space": ws.read(space.title) or "",
        "members": list(who),
        "names": list(names),
        "fields": [
            {
                "field": path,
                "reason": "for a shared space",
                "priority": "required",
                "values": [value],
                "own": True,
            }
            for path, value in written
        ],
        "choices": ["confirm", "refuse"],
    }
    question = Question(
        packet.identifier("qst_", ws.draw(17)), kind, space.space_id, who[0], ws.now, ws.keep(who[0], content)
    )
    ws.say(records.Asked(question))
    return question.question_id


def answered(ws: Workspace, question: Question, content: Fields, *, yes: bool) -> None:
    """What the owner said about fields: released to these members, and written or sent; or neither."""
    space = space_of(ws, question.thread_id)
    members, names = tuple(content["members"]), [str(one) for one in content["names"]]
    hashed = tuple(_hashed(ws, one) if yes else NO + _hashed(ws, one) for one in names)
    if yes or question.kind == MEMBER:
        ws.say(said.SpaceReleased(space.space_id, members, hashed))
    if question.kind == WRITE:
        if yes:
            fields = [(str(one["field"]), one["values"][0]) for one in content["fields"]]
            write(ws, space.space_id, fields)
        return
    peer = members[0]
    known = space_of(ws, space.space_id).members[peer]
    if known.silent == yes:
        set_member(ws, space.space_id, peer, silent=not yes)
    if yes:
        compare_with(ws, space.space_id, peer)


def set_member(ws: Workspace, space_id: str, address: str, **changes: Any) -> Member:
    """Change what is known of a member."""
    from msgspec.structs import replace

    member = replace(space_of(ws, space_id, joined=False).members[address], **changes)
    ws.say(said.SpaceMember(space_id, address, member))
    return member


# Leaving the house.


def send(
    ws: Workspace,
    space: Space,
    peer: str,
    packet_type: str,
    body: Fields,
    *,
    approved: Mapping[str, str] | None = None,
    known: Iterable[object] = (),
) -> str:
    """Let a packet of a space leave; its id."""
    packet_id = packet.identifier("pkt_", ws.draw(17))
    thread_id = thread_of(space.space_id, ws.me, peer)
    draft = consent.PacketDraft(peer, packet_type, thread_id, packet_id, ws.now, body)
    cleared = consent.clear(
        draft,
        ws.policy,
        approved or {},
        frozenset(),
        _scanner(ws, peer),
        known=known,
        members=_everyone(space),
    )
    ws.keep(peer, cleared.body, name=packet_id)
    mac = ws.values.keyed_hash(ws.kept[packet_id][1])
    ws.say(said.SpaceSent(space.space_id, thread_id, peer, packet_id, packet_type, mac))
    return packet_id


def update(ws: Workspace, space: Space, peer: str, **parts: Any) -> None:
    """Send something besides fields: who the members are, that we leave, what is wanted back."""
    send(
        ws,
        space,
        peer,
        schemas.SPACE_UPDATE,
        _body(space.space_id, (), **parts),
        known=tuple(parts.get("wanted", ())),
    )


def publish(ws: Workspace, space_id: str) -> None:
    """Tell every member what was written here and not told yet."""
    space = space_of(ws, space_id)
    pending = {path: cell for path, cell in written_by(ws, space_id, ws.me).items() if cell.pending}
    if not pending:
        return
    keys = [
        key
        for one, key in list(ws.book.part(SpaceTables).space_cells)
        if one == space_id and ws.book.part(SpaceTables).space_cells[one, key].pending
    ]
    ws.say(said.SpacePublished(space_id, tuple(keys)))
    for peer in space.present(besides=ws.me):
        tell(ws, space_id, peer, pending)


def tell(ws: Workspace, space_id: str, peer: str, fields: Mapping[str, Cell]) -> None:
    """Send fields of ours to a member, as far as they are cleared for it; the owner is asked for the rest."""
    space = space_of(ws, space_id)
    if space.members[peer].silent:
        return
    batch: list[Fields] = []
    approvals: dict[str, str] = {}
    kept_back: list[tuple[str, Any]] = []
    names: dict[str, None] = {}
    size = 0
    for path, cell in sorted(fields.items()):
        change = own_change(ws, space_id, path, cell)
        try:
            approved, asked = (
                ({}, []) if cell.deleted else _judged(ws, space, peer, _body(space_id, [change]))
            )
        except Refused:
            # It was free to go when it was written, or is older than this member.
            continue
        if asked:
            refused = {NO + _hashed(ws, one) for one in asked}
            if refused.isdisjoint(space.released.get(peer, ())):
                kept_back.append((path, change.get("value")))
                names |= dict.fromkeys(asked)
            continue
        more = len(canonical(change))
        if batch and (size + more > MOST_BYTES or len(batch) >= schemas.MOST_CHANGES):
            send(ws, space, peer, schemas.SPACE_UPDATE, _body(space_id, batch), approved=approvals)
            batch, approvals, size = [], {}, 0
        batch.append(change)
        approvals |= approved
        size += more
    if batch:
        send(ws, space, peer, schemas.SPACE_UPDATE, _body(space_id, batch), approved=approvals)
    if kept_back and not _is_asked(ws, space_id, peer):
        _ask(ws, space, MEMBER, (peer,), list(names), kept_back)


def _is_asked(ws: Workspace, space_id: str, peer: str) -> bool:
    return any(one.peer == peer for one in ws.open_questions(space_id, MEMBER))


def ask_about_member(ws: Workspace, space: Space, peer: str) -> None:
    """Somebody we do not know has joined: whether our owner tells it anything is the owner's matter."""
    if not _is_asked(ws, space.space_id, peer):
        _ask(ws, space, MEMBER, (peer,), (), ())


def compare_with(ws: Workspace, space_id: str, peer: str, *, answer: bool = False) -> None:
    """Tell a member which versions we hold of what it wrote (A2ACP-201)."""
    space = space_of(ws, space_id)
    if space.members[peer].silent or peer not in space.present(besides=ws.me):
        return
    theirs = compare.field_versions(written_by(ws, space_id, peer).items(), peer)
    body = _body(space_id, (), field_versions=theirs, answer=answer)
    send(ws, space, peer, schemas.SPACE_UPDATE, body, known=tuple(theirs))


def tell_missing(ws: Workspace, space_id: str, peer: str, theirs: Mapping[str, Version]) -> None:
    """Send a member what it lacks of ours."""
    mine = written_by(ws, space_id, ws.me)
    missing = compare.lacking(
        ((path, cell) for path, cell in mine.items() if not cell.pending), theirs, ws.me
    )
    tell(ws, space_id, peer, {path: mine[path] for path in missing})


def give_back(ws: Workspace, space_id: str, peer: str, wanted: Iterable[str]) -> None:
    """Send a member its own words back: it was restored from a backup and lacks them."""
    theirs = written_by(ws, space_id, peer)
    batch: list[Fields] = []
    size = 0
    for path in wanted:
        cell = theirs.get(path)
        if cell is not None and size < 3 * MOST_BYTES and len(batch) < schemas.MOST_CHANGES:
            batch.append(own_change(ws, space_id, path, cell))
            size += len(canonical(batch[-1]))
    if batch:
        known = [{"value": one.get("value")} for one in batch]
        space = space_of(ws, space_id)
        body = _body(space_id, (), returned=batch)
        send(ws, space, peer, schemas.SPACE_UPDATE, body, known=(*known, *(one["field"] for one in batch)))


def invitation(ws: Workspace, space: Space, level: str) -> Fields:
    """The space as whoever is invited sees it before joining: nothing that anybody wrote."""
    return {
        "space": {
            "space_id": space.space_id,
            "title": str(ws.read(space.title) or ""),
            "creator": space.creator,
            "participants": list(space.present()),
            "created": rfc3339(space.created),
            "version": version_of(held(ws, space.space_id).values()),
            "conflict_resolution": LAST_WRITE_WINS,
        },
        "write_level": level,
    }


def version_of(cells: Iterable[Cell]) -> int:
    """The version of the document: the sum of its fields' counts (A2ACP-200)."""
    return sum(cell.v for cell in cells)
