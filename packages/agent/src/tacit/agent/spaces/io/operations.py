"""What an owner can do with shared spaces, and what the agent does for them while its wheel turns.

A2ACP-197, A2ACP-201, A2ACP-203, A2ACP-204, A2ACP-205, A2ACP-206. Everything here is a decision of
`engine.space_sending` or `engine.space_receiving`, made durable like any other; what is to leave is read from
the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.a2acp.consent.filter import PacketDraft, restored
from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.packets.vocabulary import LAST_WRITE_WINS, WRITE_LEVELS
from tacit.a2acp.post.io import epochs
from tacit.agent.consent import answering
from tacit.agent.kernel import records
from tacit.agent.spaces import compare, links
from tacit.agent.spaces import fields as space_fields
from tacit.agent.spaces import receiving as space_receiving
from tacit.agent.spaces import records as said
from tacit.agent.spaces import sending as out
from tacit.agent.spaces.fold import SpaceTables
from tacit.agent.spaces.levels import FULL_WRITE, REMOVED, first_level
from tacit.agent.spaces.state import INVITED, JOINED, KEPT_CHANGES, LEFT, NOTIFY, WAITING, Member
from tacit.base import agent_requests as asked
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.base.quoting import shown, shown_in
from tacit.base.strict_json import as_list, as_object, parse
from tacit.wire import address
from tacit.wire.version import SHARED_CONTEXT_SPACES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.agent.kernel.answer import Answer
    from tacit.agent.kernel.fold import Book
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.state import Question
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.spaces.state import Space

LONGEST_SHOWN: Final = 4000
KINDS: Final = out.KINDS
EVERY: Final = 60 * SECOND
_COMPARED_IN: Final = "spaces_compared_in"


# What the owner does.


async def new(agent: AgentCore, title: str, invited: Iterable[str] = ()) -> Fields:
    """Begin a space."""
    name = shown(title, space_fields.LONGEST_TITLE)
    if not name:
        raise Refused("bad_title", "a space needs a title", row="A2ACP-197")
    whom = [str(address.parse_typed(one)) for one in invited]

    def begun(ws: Workspace) -> str:
        space_id = packet.identifier("spc_", ws.draw(17))
        kept = ws.keep(ws.me, name, name=out.title_name(space_id))
        me = {ws.me: Member(FULL_WRITE, 1, JOINED)}
        ws.say(said.SpaceBegan(space_id, ws.me, ws.now, kept, JOINED, me))
        for one in whom:
            _invite(ws, space_id, one, "")
        return space_id

    space_id = str(await agent.decide(begun))
    await agent.refresh()
    return await show(agent, space_id, look=False)


async def invite(agent: AgentCore, space_id: str, who: str, level: str = "") -> Fields:
    """Invite somebody into a space of ours: their owner is asked."""
    one = str(address.parse_typed(who))
    await agent.decide(lambda ws: _invite(ws, space_id, one, level))
    await agent.refresh()
    return await show(agent, space_id, look=False)


def _invite(ws: Workspace, space_id: str, who: str, level: str) -> None:
    space = _ours(ws, space_id)
    known = space.members.get(who)
    if who == ws.me or (known is not None and known.status == JOINED):
        raise Refused("is_member", "that one is in the space already", row="A2ACP-201")
    if len(space.present()) >= space_fields.MOST_MEMBERS:
        raise Refused("space_full", f"a space has at most {space_fields.MOST_MEMBERS} members")
    peer = ws.peer_of(who)
    able = SHARED_CONTEXT_SPACES in peer.features
    if peer.heard and not able:
        raise Refused("not_supported", "their agent says that it keeps no spaces", row="A2ACP-057")
    given = _level(level) if level else first_level(len(space.present()) + 1)
    number = known.v + 1 if known is not None else 1
    ws.say(said.SpaceMember(space_id, who, Member(given, number, INVITED if able else WAITING)))
    if able:
        _send_invitation(ws, space_id, who, given)


def _send_invitation(ws: Workspace, space_id: str, who: str, given: str) -> None:
    body = out.invitation(ws, out.space_of(ws, space_id), given)
    out.send(ws, out.space_of(ws, space_id), who, schemas.SPACE_INVITE, body)


def _level(text: str) -> str:
    if text not in WRITE_LEVELS:
        raise Refused("bad_level", f"a level is one of {', '.join(WRITE_LEVELS)}", row="A2ACP-202")
    return text


def _ours(ws: Workspace, space_id: str) -> Space:
    space = out.space_of(ws, space_id)
    if space.creator != ws.me:
        raise Refused("not_creator", "only who began a space invites and gives levels", row="A2ACP-203")
    return space


async def level(agent: AgentCore, space_id: str, who: str, given: str) -> Fields:
    """Give a member another level, or take it out with `removed`."""
    one = str(address.parse_typed(who))

    def changed(ws: Workspace) -> None:
        space = _ours(ws, space_id)
        known = space.members.get(one)
        if known is None or known.status == LEFT or one == ws.me:
            raise Refused("no_member", "that one is not in the space", row="A2ACP-203")
        if given == REMOVED:
            out.set_member(ws, space_id, one, status=LEFT, v=known.v + 1)
        else:
            out.set_member(ws, space_id, one, level=_level(given), v=known.v + 1)
        space_receiving.tell_members(ws, space_id, *((one,) if known.status == JOINED else ()))

    await agent.decide(changed)
    await agent.refresh()
    return await show(agent, space_id, look=False)


async def set_field(agent: AgentCore, space_id: str, path: str, value: Any) -> Fields:
    """Write a field, or the items of a list; asked first where it is not cleared for everybody."""
    plain = space_fields.checked_path(path)

    def written(ws: Workspace) -> str:
        found = list(
            space_fields.written(plain, value, lambda: packet.identifier(space_fields.ITEM, ws.draw(17))[:16])
        )
        return out.write(ws, space_id, found)

    return await _outcome(agent, space_id, await agent.decide(written))


async def unset(agent: AgentCore, space_id: str, path: str) -> Fields:
    """Take a field away."""
    plain = space_fields.checked_path(path)
    question = await agent.decide(lambda ws: out.write(ws, space_id, [(plain, None)], deleted=True))
    return await _outcome(agent, space_id, question)


async def link(agent: AgentCore, space_id: str, path: str, url: str, name: str = "") -> Fields:
    """Write a field that links to something outside (A2ACP-206)."""
    value = {"link": links.checked(url)} | ({"name": name} if name else {})
    return await set_field(agent, space_id, path, value)


async def _outcome(agent: AgentCore, space_id: str, question: str) -> Fields:
    await agent.refresh()
    found = {"space_id": space_id, "status": "asked" if question else "written"}
    return found | ({"question_id": question} if question else {})


async def leave(agent: AgentCore, space_id: str) -> Fields:
    """Leave a space: the others are told, and the replica here is erased."""

    def left(ws: Workspace) -> None:
        space = out.space_of(ws, space_id)
        for peer in space.present(besides=ws.me):
            out.update(ws, space, peer, left=True)
        ws.withdraw(space_id, "left")
        ws.say(said.SpaceJoined(space_id, LEFT))

    await agent.decide(left)
    await agent.refresh()
    return {"space_id": space_id, "status": LEFT}


async def notify(agent: AgentCore, space_id: str, what: str) -> Fields:
    """Of which changes the owner is told (A2ACP-205)."""
    if what not in NOTIFY:
        raise Refused("bad_choice", f"notify is one of {', '.join(NOTIFY)}", row="A2ACP-205")

    def chosen(ws: Workspace) -> None:
        out.space_of(ws, space_id)
        ws.say(said.SpaceSet(space_id, notify=what))

    await agent.decide(chosen)
    return {"space_id": space_id, "notify": what}


# What the owner sees.


async def listed(agent: AgentCore) -> Fields:
    """Every space."""
    await agent.refresh()
    ws = agent.workspace()
    spaces = [
        space
        for space in map(ws.book.part(SpaceTables).spaces.get, list(ws.book.part(SpaceTables).spaces))
        if space is not None
    ]
    return {
        "spaces": [
            _line(ws, one) for one in sorted(spaces, key=lambda one: one.created) if one.status != LEFT
        ]
    }


def _line(ws: Workspace, space: Space) -> Fields:
    return {
        "space_id": space.space_id,
        "title": shown(ws.read(space.title) or ""),
        "status": space.status,
        "participants": list(space.present()),
        "level": space.members[ws.me].level,
        "fields": sum(not cell.deleted for cell in out.held(ws, space.space_id).values()),
        "new": sum(_is_news(ws, space, one) for one in _kept(ws, space, space.seen)),
    }  # fmt: skip


async def show(agent: AgentCore, space_id: str, *, look: bool = True) -> Fields:
    """One space whole, and what changed since the owner last looked; others' words as `shown`."""
    await agent.refresh()
    ws = agent.workspace()
    space = out.space_of(ws, space_id, joined=False)
    cells = out.held(ws, space_id)
    live = {path: cell for path, cell in sorted(cells.items()) if not cell.deleted}
    newest = max(cells.values(), key=lambda one: (one.at, one.by), default=None)
    values = {path: shown_in(out.value_of(ws, space_id, path), LONGEST_SHOWN) for path in live}
    found = _line(ws, space) | {
        "creator": space.creator,
        "created": rfc3339(space.created),
        "members": [
            {"agent": one, "level": known.level, "status": known.status, "silent": known.silent}
            for one, known in sorted(space.members.items())
        ],
        "context": shown_in(space_fields.document(values.items()), LONGEST_SHOWN),
        "fields": [
            {
                "field": shown(path),
                "value": values[path],
                "by": cell.by,
                "at": rfc3339(cell.at),
                "v": cell.v,
                "link": links.url_of(values[path]),
                "pending": cell.pending,
            }
            for path, cell in live.items()
        ],
        "field_versions": {
            shown(path): {"v": cell.v, "at": rfc3339(cell.at), "by": cell.by} for path, cell in cells.items()
        },
        "version": out.version_of(cells.values()),
        "last_modified_by": newest.by if newest is not None else None,
        "conflict_resolution": LAST_WRITE_WINS,
        "notify": space.notify,
        "changes": _entries(ws, space),
    }
    if look and space.changes > space.seen:
        await agent.decide(lambda ws: ws.say(said.SpaceSet(space_id, seen=space.changes)))
    return found


def _kept(ws: Workspace, space: Space, after: int) -> list[Fields]:
    """What is still kept of the change list behind a place in it."""
    first = max(after + 1, space.changes - KEPT_CHANGES + 1)
    found = [ws.read(out.entry_name(space.space_id, one)) for one in range(first, space.changes + 1)]
    return cast("list[Fields]", [one for one in found if one is not None])


def _is_news(ws: Workspace, space: Space, entry: Fields) -> bool:
    """Whether the owner has not seen a change; what the owner wrote is no news."""
    return entry["n"] > space.seen and entry["by"] != ws.me


def _entries(ws: Workspace, space: Space) -> list[Fields]:
    """The change list, oldest first: each with what it replaced, and whether the owner has seen it."""
    found: list[Fields] = []
    before: dict[str, Any] = {}
    for one in _kept(ws, space, 0):
        path = str(one["field"])
        found.append(
            {
                "n": one["n"],
                "field": shown(path),
                "by": one["by"],
                "at": one["at"],
                "deleted": bool(one.get("deleted")),
                "value": shown_in(one.get("value"), LONGEST_SHOWN),
                "before": shown_in(before.get(path), LONGEST_SHOWN),
                "lost": bool(one.get("lost")),
                "new": _is_news(ws, space, one),
            }
        )
        if not one.get("lost"):
            before[path] = one.get("value")
    return found


def disclosures(store: AgentStore, who: str) -> list[Fields]:
    """What of ours went into spaces, and to whom, as the packets themselves say."""
    rows = store.rows(
        "SELECT peer, packet_id, at, payload FROM history"
        " WHERE direction='out' AND type=? AND payload<>x'' AND (?='' OR peer=?)",
        schemas.SPACE_UPDATE, who, who,
    )  # fmt: skip
    found: list[Fields] = []
    for peer, packet_id, at, payload in rows:
        fields = packet.read(bytes(payload)).fields
        found += [
            {
                "to": peer,
                "thread_id": fields["space_id"],
                "packet_id": packet_id,
                "field": one["field"],
                "value": one["value"],
                "basis": "space",
                "question_id": None,
                "via": None,
                "at": rfc3339(Moment(at)),
            }
            for one in cast("list[Fields]", fields["changes"])
            if "value" in one
        ]
    return found


# Questions.


async def answer(agent: AgentCore, question: Question, given: Answer) -> Fields:
    """Take the owner's answer to a question about a space."""
    if given.dismiss and not (given.confirm or given.refuse):
        # Put aside, not answered: it stays open (A2ACP-131).
        return {"space_id": question.thread_id, "status": "asked"}
    if not (given.confirm or given.refuse):
        raise Refused("bad_answer", "this question is answered with --confirm or --refuse", row="A2ACP-128")
    yes = given.confirm

    def taken(ws: Workspace) -> tuple[str, ...]:
        answering.open_question(ws, question.question_id)
        content = as_object(ws.read(question.content))
        ws.say(records.Answered(question.question_id, "confirm" if yes else "refuse", via=given.via))
        if question.kind == out.INVITE:
            return _join(ws, question.thread_id, yes=yes)
        out.answered(ws, question, content, yes=yes)
        return tuple(map(str, as_list(content.get("members")))) if yes else ()

    for peer in await agent.decide(taken):
        agent.post.inbox.welcome(peer)
    await agent.refresh()
    return {"space_id": question.thread_id, "status": JOINED if yes else LEFT}


def _join(ws: Workspace, space_id: str, *, yes: bool) -> tuple[str, ...]:
    space = out.space_of(ws, space_id, joined=False)
    ws.say(said.SpaceJoined(space_id, JOINED if yes else LEFT))
    if yes:
        out.set_member(ws, space_id, ws.me, status=JOINED)
    body = {"space_id": space_id, "accepted": yes}
    out.send(ws, space, space.creator, schemas.SPACE_INVITE_RESPONSE, body)
    others = space.present(besides=ws.me) if yes else ()
    for one in others:
        if ws.peer_of(one).blocked:
            out.set_member(ws, space_id, one, silent=True)
    return tuple(one for one in others if not ws.peer_of(one).blocked)


# What the wheel does.


@dataclass(slots=True)
class SpacesCompared:
    """When the spaces were compared, since the line was last there."""

    at: Moment | None = None


async def turn(agent: AgentCore) -> bool:
    """Invite who waits for it, publish what was written, compare after a reconnect, hand packets over."""
    did = await _invite_waiting(agent)
    line, compared = agent.connection, agent.running(SpacesCompared)
    on = line is not None and line.connected.is_set()
    if on:
        waiting = {
            space
            for space, key in agent.journal.book.part(SpaceTables).space_cells
            if agent.journal.book.part(SpaceTables).space_cells[space, key].pending
        }
        for space_id in sorted(waiting):
            await agent.decide(lambda ws, space_id=space_id: out.publish(ws, space_id))
            did = True
        if compared.at is None:
            compared.at = agent.clock.now()
            did = await _compare_all(agent) or did
    elif compared.at is not None and agent.clock.now() - compared.at >= EVERY:
        # A line that comes and goes is no reason to compare each time.
        compared.at = None
    return await _post_all(agent) or did


async def _invite_waiting(agent: AgentCore) -> bool:
    """Invite those whose agents have said meanwhile that they keep spaces; of the others the owner hears."""
    book = agent.journal.book
    waiting = [
        (space_id, who)
        for space_id, space in list(book.part(SpaceTables).spaces.items())
        if space.status == JOINED and space.creator == agent.me
        for who, known in space.members.items()
        if known.status == WAITING
    ]
    heard = [one for one in waiting if agent.workspace().peer_of(one[1]).heard]
    for space_id, who in heard:
        await agent.decide(lambda ws, space_id=space_id, who=who: _has_said(ws, space_id, who))
    return bool(heard)


def _has_said(ws: Workspace, space_id: str, who: str) -> None:
    known = out.space_of(ws, space_id).members[who]
    if known.status != WAITING:
        return
    if SHARED_CONTEXT_SPACES in ws.peer_of(who).features:
        out.set_member(ws, space_id, who, status=INVITED)
        _send_invitation(ws, space_id, who, known.level)
    else:
        out.set_member(ws, space_id, who, status=LEFT, v=known.v + 1)
        ws.notice(space_id, "space_declined", who)


async def _compare_all(agent: AgentCore) -> bool:
    book = agent.journal.book
    pairs = [
        (space_id, peer)
        for space_id in list(book.part(SpaceTables).spaces)
        if book.part(SpaceTables).spaces[space_id].status == JOINED
        for peer in book.part(SpaceTables).spaces[space_id].present(besides=agent.me)
    ]
    ws = agent.workspace()
    is_anew = _begins_anew(agent)
    due: list[tuple[str, str]] = []
    for space_id, peer in pairs:
        member = book.part(SpaceTables).spaces[space_id].members[peer]
        if is_anew or compare.is_due(member, space_receiving.digest_with(ws, space_id, peer), ws.now):
            due.append((space_id, peer))
    for space_id, peer in due:
        await agent.decide(lambda ws, one=space_id, peer=peer: out.compare_with(ws, one, peer))
    return bool(due)


def _begins_anew(agent: AgentCore) -> bool:
    """Whether this folder, or its relay, was set back since the replicas were last compared."""
    store = agent.post.store
    standing = epochs.beginnings(store)
    if store.setting(_COMPARED_IN, "") == standing:
        return False
    with store.transaction():
        store.choose(_COMPARED_IN, standing)
    return True


async def _post_all(agent: AgentCore) -> bool:
    """Hand to the post what was decided; under its own id, so that a repeat changes nothing."""
    did = False
    for packet_id, one in list(agent.journal.book.part(SpaceTables).space_packets.items()):
        kept = agent.vault.raw(packet_id)
        if kept is not None:
            draft = PacketDraft(
                one.to, one.type, one.thread_id, packet_id, one.at, cast("Fields", parse(kept))
            )
            if one.type != schemas.SPACE_INVITE:
                _knows_spaces(agent, one.to)
            try:
                agent.post.outbox.post(restored(draft, named=one.mac, hashed=agent.vault.keyed_hash(kept)))
            except Refused as refused:
                code = refused.code
                await agent.decide(lambda ws, to=one.to, code=code: ws.notice(to, "not_sent", code))
        await agent.decide(lambda ws, packet_id=packet_id: ws.say(records.Posted(packet_id)))
        did = True
    if did and agent.connection is not None:
        agent.connection.wake()
    return did


def _knows_spaces(agent: AgentCore, peer: str) -> None:
    """A member of a space has said that it keeps it; its capabilities may never have come to us."""
    store = agent.post.store
    with store.transaction():
        store.know(peer, welcome=True)
        known = store.contact(peer)
        features = known.features if known is not None else frozenset[str]()
        if SHARED_CONTEXT_SPACES not in features:
            named = " ".join(sorted(features | {SHARED_CONTEXT_SPACES}))
            store.run("UPDATE contacts SET features=? WHERE address=?", named, peer)


def replaces(kept: Iterable[str]) -> bool:
    """Whether values take the place of others under the same names, which the log may still hold."""
    return any(one.startswith(out.VAULT) for one in kept)


def gone(book: Book, record: records.Record) -> list[str]:
    """The values that a record of a space lets go of."""
    match record:
        case said.SpaceJoined(status="left"):
            space = book.part(SpaceTables).spaces.get(record.space_id)
            entries = min(space.changes, KEPT_CHANGES) if space is not None else 0
            keys = [key for one, key in book.part(SpaceTables).space_cells if one == record.space_id]
            return [
                out.title_name(record.space_id),
                *(out.value_name(record.space_id, key) for key in keys),
                *(out.entry_name(record.space_id, number) for number in range(entries + 1)),
            ]
        case said.SpaceDropped():
            return [out.value_name(record.space_id, key) for key in record.fields]
        case _:
            return []


def erase_left(agent: AgentCore, kept: Iterable[records.Record] | None = None) -> None:
    """Let go of what the post's history holds of spaces that we are no longer in: all, or those just left."""
    if kept is not None and not any(
        isinstance(record, said.SpaceJoined) and record.status == LEFT for record in kept
    ):
        return
    book, store = agent.journal.book, agent.post.store
    with store.transaction():
        for space in [
            book.part(SpaceTables).spaces[space_id] for space_id in list(book.part(SpaceTables).spaces)
        ]:
            for peer in space.members if space.status == LEFT else ():
                store.run(
                    "UPDATE history SET payload=x'' WHERE peer=? AND thread_id=? AND payload<>x''",
                    peer,
                    out.thread_of(space.space_id, agent.me, peer),
                )


def forget(ws: Workspace, peer: str) -> None:
    """A contact is forgotten: spaces of its own, or of us two alone, end; of others its part goes.

    A2ACP-196. Nobody is told.
    """
    for space_id in list(ws.book.part(SpaceTables).spaces):
        space = ws.book.part(SpaceTables).spaces[space_id]
        if space.status == LEFT or peer not in space.members:
            continue
        ws.withdraw(space_id, "forgotten")
        if space.creator == peer or space.present(besides=ws.me) in {(peer,), ()}:
            ws.say(said.SpaceJoined(space_id, LEFT))
            continue
        out.set_member(ws, space_id, peer, status=LEFT, silent=True, v=space_receiving.MOST_VERSION)
        theirs = [
            key
            for one, key in list(ws.book.part(SpaceTables).space_cells)
            if one == space_id and ws.book.part(SpaceTables).space_cells[one, key].by == peer
        ]
        if theirs:
            ws.say(said.SpaceDropped(space_id, tuple(theirs)))


def carried_out(agent: AgentCore, request: asked.AgentSpace) -> Awaitable[Fields]:
    """What an owner can do with spaces; nothing of it runs a program."""
    match request:
        case asked.NewSpace():
            return new(agent, request.title, request.invite)
        case asked.ListSpaces():
            return listed(agent)
        case asked.ShowSpace():
            return show(agent, request.space_id, look=request.look)
        case asked.SetInSpace():
            return set_field(agent, request.space_id, request.field, request.value)
        case asked.UnsetInSpace():
            return unset(agent, request.space_id, request.field)
        case asked.LinkInSpace():
            return link(agent, request.space_id, request.field, request.url, request.name)
        case asked.InviteToSpace():
            return invite(agent, request.space_id, request.who, request.level)
        case asked.LevelInSpace():
            return level(agent, request.space_id, request.who, request.level)
        case asked.NotifyOfSpace():
            return notify(agent, request.space_id, request.what)
        case asked.LeaveSpace():
            return leave(agent, request.space_id)
