"""A packet that its owner writes by hand goes the way of all packets: through consent (A2ACP-038, A2ACP-072).

What the owner types is the owner's word and may go. A body that was put together, by a script or another
program, is held against the permissions: a field that has to be asked for goes only when the owner names it,
one that never goes is left out. The permissions are read from the journal without its lock, so that a packet
can be sent beside a process of the same agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent.disguises import name as folded
from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.tiers import DEFAULT, Policy, Tier, ready, tier
from tacit.a2acp.consent.walk import APPROVED
from tacit.a2acp.packets import packet
from tacit.agent.kernel.io import vault
from tacit.agent.kernel.io.journal import GROUP, settings_on
from tacit.agent.kernel.io.paths import journal_file
from tacit.base.errors import Refused
from tacit.base.io.sqlite import connect
from tacit.base.moment import Moment, rfc3339
from tacit.base.strict_json import parse
from tacit.ledger.io.fold_tables import GroupFolds
from tacit.ledger.io.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.post import Post
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.ports import Clock, Entropy

TEXT: Final = "text"


def settings(store: AgentStore, *names: str) -> dict[str, Any]:
    """Settings of the agent of a folder, by name, also beside its running process."""
    path = journal_file(store.folder)
    if not path.exists():
        return {}
    connection = connect(path, readonly=True)
    try:
        SCHEMA.require_known(connection, path)
        row = connection.execute("SELECT number FROM groups WHERE group_id=?", (GROUP,)).fetchone()
        ids = settings_on(GroupFolds(connection, int(row[0]))) if row else dict[str, str]()
        found: dict[str, Any] = {}
        values = {one[0]: one[3] for one in vault.rows_of(connection, contact="")}
        for name in names:
            value_id = ids.get(name, "")
            # An older program kept it in the file of the keys, until an agent is next opened here.
            kept = values.get(value_id) or store.row("SELECT value FROM vault WHERE value_id=?", value_id)
            if kept is not None:
                found[name] = parse(kept if isinstance(kept, bytes) else bytes(kept[0]))
    finally:
        connection.close()
    return found


def send(
    post: Post,
    clock: Clock,
    entropy: Entropy,
    *,
    to: str,
    thread_id: str,
    body: Fields,
    typed: bool,
    share: Iterable[str] = (),
    replace_queue: bool = False,
) -> str:
    """Clear a context packet and hand it to the post; its id.

    `typed` when the body is the owner's own sentence. `Refused` with `consent_needed` names the fields that
    the owner would have to share.
    """
    known = settings(post.store, "policy", "profile")
    policy = msgspec.convert(known["policy"], Policy) if "policy" in known else DEFAULT
    profile = cast("Fields", known.get("profile") or {})
    approved = dict.fromkeys(share, APPROVED) | ({TEXT: APPROVED} if typed else {})
    members = frozenset({post.store.me().address, to})
    examined = consent.examine(body, packet.CONTEXT, policy, to, approved, members=members)
    if examined.held:
        names = sorted({one.field for one in examined.held})
        raise Refused(
            "consent_needed",
            f"to be sent it needs your word: {' '.join(f'--share {one}' for one in names)}",
            row="A2ACP-072",
            details={"fields": names},
        )
    released = {folded(name) for name in approved}
    secret = [
        (name, value)
        for name, value in profile.items()
        if not typed
        and tier(policy, name, to) is not Tier.ALWAYS
        and released.isdisjoint(ready(policy).chain(name))
    ]
    identifier = packet.identifier("pkt_", entropy.draw(17))
    draft = consent.PacketDraft(to, packet.CONTEXT, thread_id, identifier, clock.now(), body)
    cleared = consent.clear(draft, policy, approved, frozenset(), Scanner(secret), members=members)
    return post.outbox.post(cleared, replace_queue=replace_queue)


def disclosures(store: AgentStore, journalled: set[str], who: str) -> list[Fields]:
    """What left by hand, as its packets themselves say; `journalled` are those that the journal tells of."""
    rows = store.rows(
        "SELECT peer, packet_id, thread_id, at FROM history"
        " WHERE direction='out' AND type=? AND payload<>x'' AND (?='' OR peer=?)",
        packet.CONTEXT, who, who,
    )  # fmt: skip
    found: list[Fields] = []
    for peer, packet_id, thread_id, at in rows:
        if packet_id in journalled:
            continue
        row = store.row("SELECT payload FROM history WHERE direction='out' AND packet_id=?", packet_id)
        fields = packet.read(bytes(row[0])).fields if row else {}
        permissions = cast("Fields", fields.get("permissions") or {})
        shared = cast("list[str]", permissions.get("shared_fields") or [])
        told = {
            "to": peer,
            "thread_id": thread_id,
            "packet_id": packet_id,
            "basis": permissions.get("consent_level"),
            "question_id": None,
            "via": None,
            "at": rfc3339(Moment(at)),
        }
        context = cast("Fields", fields.get("context") or {})
        found += [{**told, "field": one, "value": context.get(one)} for one in shared]
    return found
