"""A packet of a space that arrived: who may say it is the signed sender's matter, never a field's in it.

A2ACP-197, A2ACP-199, A2ACP-200, A2ACP-201, A2ACP-202, A2ACP-203, A2ACP-205.

Of members and levels only the creator's word counts, of a field only its author's, of leaving only one's own.
What breaks a rule is recorded and has no other effect; one bad change does not cost its packet the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from tacit.a2acp.packets import bodies, packet, schemas
from tacit.agent.kernel import records
from tacit.agent.kernel.state import Question
from tacit.agent.spaces import compare, merge
from tacit.agent.spaces import records as said
from tacit.agent.spaces import sending as out
from tacit.agent.spaces.fields import LONGEST_TITLE, MOST_FIELDS, MOST_MEMBERS, is_path, is_value
from tacit.agent.spaces.fold import SpaceTables
from tacit.agent.spaces.levels import FULL_WRITE
from tacit.agent.spaces.notify import is_meaningful
from tacit.agent.spaces.state import HOUR, INVITED, JOINED, LEFT, WAITING, Cell, Member, Space
from tacit.base.moment import parse_rfc3339
from tacit.wire.version import SHARED_CONTEXT_SPACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.strict_json import JsonObject

MOST_IN_AN_HOUR: Final = 2000
"""Changes of one member that a replica takes; what is beyond comes with a later comparison."""
MOST_INVITES: Final = 5
"""Of one creator, unanswered."""
MOST_VERSION: Final = 2**31
TYPES: Final = frozenset(schemas.SPACE_TYPES)


def receive(ws: Workspace, *, peer: str, thread_id: str, packet_type: str, fields: JsonObject) -> None:
    """Take one packet, of fields that are `normalised`."""
    body = schemas.valued(packet_type, fields)
    match body:
        case bodies.SpaceInvite():
            space_id = body.space.space_id
        case bodies.SpaceInviteResponse() | bodies.SpaceUpdate():
            space_id = body.space_id
        case _:
            return
    if thread_id != out.thread_of(space_id, ws.me, peer):
        _violated(ws, space_id, peer, "space_thread")
        return
    match body:
        case bodies.SpaceInvite():
            _invite(ws, peer, body.space, body.write_level)
        case bodies.SpaceInviteResponse():
            _response(ws, peer, space_id, accepted=body.accepted)
        case bodies.SpaceUpdate():
            _update(ws, peer, space_id, body)


def _violated(ws: Workspace, space_id: str, peer: str, rule: str) -> None:
    ws.say(records.Violated(space_id, peer, rule))


# Joining.


def _invite(ws: Workspace, peer: str, about: bodies.PacketSpace, level: str) -> None:
    """Somebody invites us: a question to our owner, and nothing else before its answer (A2ACP-201)."""
    space_id = about.space_id
    participants = about.participants
    created = parse_rfc3339(about.created)
    known = ws.book.part(SpaceTables).spaces.get(space_id)
    spaces = ws.book.part(SpaceTables).spaces
    waiting = sum(spaces[name].creator == peer and spaces[name].status == INVITED for name in list(spaces))
    fits = (
        about.creator == peer
        and peer in participants
        and len(participants) <= MOST_MEMBERS
        and len(set(participants)) == len(participants)
        and created is not None
        and created <= ws.now + merge.SKEW
        and len(about.title) <= LONGEST_TITLE
        and waiting < MOST_INVITES
        and (known is None or (known.status == LEFT and known.creator == peer))
    )
    if not fits or created is None:
        _violated(ws, space_id, peer, "space_invite")
        return
    members = {one: Member(FULL_WRITE if one == peer else level, 0, JOINED) for one in participants}
    members[ws.me] = Member(level, 0, INVITED)
    title = ws.keep(peer, about.title, name=out.title_name(space_id))
    ws.say(said.SpaceBegan(space_id, peer, created, title, INVITED, members))
    content: JsonObject = {
        "space_id": space_id,
        "space": about.title,
        "members": [*participants],
        "level": level,
        "choices": ["confirm", "refuse"],
    }
    question_id = packet.identifier("qst_", ws.draw(17))
    ws.say(records.Asked(Question(question_id, out.INVITE, space_id, peer, ws.now, ws.keep(peer, content))))


def _response(ws: Workspace, peer: str, space_id: str, *, accepted: bool) -> None:
    space = ws.book.part(SpaceTables).spaces.get(space_id)
    known = space.members.get(peer) if space is not None else None
    if space is None or space.creator != ws.me or known is None or known.status != INVITED:
        _violated(ws, space_id, peer, "space_response")
        return
    out.set_member(ws, space_id, peer, status=JOINED if accepted else LEFT, v=known.v + 1)
    ws.notice(space_id, "space_joined" if accepted else "space_declined", peer)
    if accepted:
        tell_members(ws, space_id)
        out.compare_with(ws, space_id, peer)


def tell_members(ws: Workspace, space_id: str, *also: str) -> None:
    """Tell everybody who the members are and what each may write: the creator's word."""
    space = out.space_of(ws, space_id)
    members = {
        one: {"level": known.level, "v": known.v, "status": known.status}
        for one, known in space.members.items()
        if known.status not in {WAITING, INVITED}
    }
    for peer in dict.fromkeys((*space.present(besides=ws.me), *also)):
        out.update(ws, space, peer, members=members)


def _members(ws: Workspace, space: Space, peer: str, told: Mapping[str, bodies.PacketSpaceMember]) -> None:
    if peer != space.creator or len(told) > 4 * MOST_MEMBERS:
        _violated(ws, space.space_id, peer, "space_members")
        return
    for one, known in sorted(told.items()):
        _one_member(ws, space.space_id, one, known)
        if ws.book.part(SpaceTables).spaces[space.space_id].status != JOINED:
            # The creator has taken us out: whoever else is in it concerns us no more.
            return


def _one_member(ws: Workspace, space_id: str, one: str, known: bodies.PacketSpaceMember) -> None:
    space = out.space_of(ws, space_id)
    before = space.members.get(one)
    number, status, level = known.v, known.status, known.level
    if number > MOST_VERSION or (before is not None and number <= before.v) or one == space.creator:
        return
    was = before.status if before is not None else ""
    if before is None and len(space.members) >= 2 * MOST_MEMBERS:
        return
    if before is None:
        ws.say(said.SpaceMember(space_id, one, Member(level, number, status)))
    else:
        out.set_member(ws, space_id, one, level=level, v=number, status=status)
    if one == ws.me:
        _about_us(ws, space_id, was, status, before.level if before else "", level)
    elif status == JOINED and was != JOINED:
        ws.notice(space_id, "space_joined", one)
        _new_member(ws, space_id, one)
    elif status == JOINED and before is not None and before.v == 0:
        out.compare_with(ws, space_id, one)
    elif status == LEFT and was == JOINED:
        ws.notice(space_id, "space_left", one)


def _about_us(ws: Workspace, space_id: str, was: str, status: str, before: str, level: str) -> None:
    if status == LEFT:
        ws.notice(space_id, "space_removed")
        ws.say(said.SpaceJoined(space_id, LEFT))
    elif was == JOINED and before != level:
        ws.notice(space_id, "space_level", level)


def _new_member(ws: Workspace, space_id: str, one: str) -> None:
    """One more keeps the space; whom our owner knows gets what is cleared for it, others are asked about."""
    known = ws.peer_of(one)
    if not known.blocked and (known.heard or SHARED_CONTEXT_SPACES in known.features):
        out.compare_with(ws, space_id, one)
        return
    out.set_member(ws, space_id, one, silent=True)
    if not known.blocked:
        out.ask_about_member(ws, out.space_of(ws, space_id), one)


# Updates.


def _update(ws: Workspace, peer: str, space_id: str, body: bodies.SpaceUpdate) -> None:
    space = ws.book.part(SpaceTables).spaces.get(space_id)
    known = space.members.get(peer) if space is not None else None
    if space is None or space.status != JOINED or known is None or known.status != JOINED:
        _violated(ws, space_id, peer, "space_outsider")
        return
    if body.left:
        # The creator's word on it reaches whoever has not heard the member's own.
        out.set_member(ws, space_id, peer, status=LEFT, v=known.v + (space.creator == ws.me))
        ws.notice(space_id, "space_left", peer)
        return
    if body.members is not None:
        _members(ws, space, peer, body.members)
    if ws.book.part(SpaceTables).spaces[space_id].status != JOINED:
        return
    _changes(ws, space_id, peer, body.changes)
    _returned(ws, space_id, peer, body.returned or ())
    wanted = [path for path in body.wanted or () if is_path(path)]
    if body.field_versions is not None or wanted:
        _compared(ws, space_id, peer, body, wanted[:MOST_FIELDS])


def _read(given: bodies.SpaceChange) -> merge.Change | None:
    """A change as it came; None for what is none: a path that names no field, a list, a value too large."""
    at = parse_rfc3339(given.at)
    deleted = given.deleted is True
    value = None if given.value is UNSET else given.value
    if at is None or not is_path(given.field) or (deleted and value is not None):
        return None
    if not deleted and not is_value(value):
        return None
    known = given.mark if given.mark is not None and len(given.mark) <= 64 else ""
    since = parse_rfc3339(given.since) if given.since is not None else at
    if since is None or since > at:
        return None
    return merge.Change(given.field, value, deleted, given.v, at, known, since)


def _changes(ws: Workspace, space_id: str, peer: str, given: Iterable[bodies.SpaceChange]) -> None:
    refused: set[str] = set()
    for one in given:
        change = _read(one)
        if change is None:
            refused.add("space_field")
            continue
        member = out.space_of(ws, space_id).members[peer]
        if member.hour == ws.now // HOUR and member.taken >= MOST_IN_AN_HOUR:
            refused.add("space_flood")
            break
        why = _take(ws, space_id, peer, change)
        if why is not None and why != merge.STALE:
            refused.add(f"space_{why}")
    for rule in sorted(refused):
        _violated(ws, space_id, peer, rule)


def _take(ws: Workspace, space_id: str, peer: str, change: merge.Change) -> str | None:
    """Take a change of its author's; why not, when it is not taken."""
    space = out.space_of(ws, space_id)
    cells = out.versions_of(ws, space_id, change.field)
    why = merge.fault(
        cells.get(peer),
        merge.Version(change.v, change.at, peer),
        level=space.members[peer].level,
        created=space.created,
        now=ws.now,
        room=peer in cells or out.room_for(ws, space_id),
    )
    if why is None:
        _keep(ws, space, peer, change, cells)
    return why


def _keep(ws: Workspace, space: Space, author: str, change: merge.Change, cells: Mapping[str, Cell]) -> None:
    """Keep a version of somebody's, or of a former self of ours; the owner hears of what it changes."""
    space_id = space.space_id
    before = out.value_of(ws, space_id, change.field)
    cell = out.standing(ws, space_id, cells)
    stands = out.keep_version(ws, space_id, change, author)
    entry = str(ws.book.part(SpaceTables).spaces[space_id].changes)
    after = out.versions_of(ws, space_id, change.field)
    if cell is not None and cell.by == ws.me and _was_lost(ws, space_id, cell, change, cells, after):
        ws.notice(space_id, "space_lost", entry)
    elif (
        stands
        and author != ws.me
        and is_meaningful(
            space.notify, ws.me, change.field, change.value, cell.by if cell is not None else "", before
        )
    ):
        ws.notice(space_id, "space_changed", entry)


def _was_lost(
    ws: Workspace,
    space_id: str,
    ours: Cell,
    change: merge.Change,
    before: Mapping[str, Cell],
    after: Mapping[str, Cell],
) -> bool:
    """Whether a word of ours that stood gave way to one whose author had not heard it."""
    stands = out.standing(ws, space_id, after)
    if stands is None or stands.by == ws.me:
        return False
    unheard = ours.pending or change.v <= ours.v
    return unheard or merge.owner(before.values()) != merge.owner(after.values())


def _returned(ws: Workspace, space_id: str, peer: str, given: Iterable[bodies.SpaceChange]) -> None:
    """Our own words back, by their marks; what has none of ours is nobody's word."""
    space = out.space_of(ws, space_id)
    for one in given:
        change = _read(one)
        if change is None or change.mark != out.mark_of(ws, space_id, change):
            _violated(ws, space_id, peer, "space_returned")
            return
        cells = out.versions_of(ws, space_id, change.field)
        if ws.me not in cells or merge.version(cells[ws.me]) < merge.Version(change.v, change.at, ws.me):
            _keep(ws, space, ws.me, change, cells)


def digest_with(ws: Workspace, space_id: str, peer: str) -> str:
    """A digest of what we and a member have written, as far as we hold it."""
    fields = out.versions(ws, space_id)
    return compare.digest(
        {
            author: {path: cells[author] for path, cells in fields.items() if author in cells}
            for author in (ws.me, peer)
        }
    )


def _compared(ws: Workspace, space_id: str, peer: str, body: bodies.SpaceUpdate, wanted: list[str]) -> None:
    """Send what is missing there; so often, and no oftener (A2ACP-201)."""
    member = out.space_of(ws, space_id).members[peer]
    if not compare.may_answer(member.compared, ws.now):
        _violated(ws, space_id, peer, "space_comparisons")
        return
    out.set_member(ws, space_id, peer, compared=compare.after_answer(member.compared, ws.now))
    out.give_back(ws, space_id, peer, wanted)
    if body.field_versions is None:
        return
    theirs = compare.read_versions(body.field_versions, ws.me)
    if theirs is None:
        _violated(ws, space_id, peer, "space_versions")
        return
    out.tell_missing(ws, space_id, peer, theirs)
    mine = out.written_by(ws, space_id, ws.me)
    lost = compare.lost(mine, theirs)
    if not lost and not compare.lacking(mine.items(), theirs, ws.me):
        digest = digest_with(ws, space_id, peer)
        out.set_member(ws, space_id, peer, agreed=digest, agreed_at=ws.now)
    if lost:
        out.update(ws, out.space_of(ws, space_id), peer, wanted=lost)
    if not body.answer:
        out.compare_with(ws, space_id, peer, answer=True)
