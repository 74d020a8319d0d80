"""How what a counterpart told leaves an agent's folder while the contact stays: in every copy there is.

A2ACP-185, A2ACP-194, A2ACP-195.

A value that was told lies in the packets that told it, in packets of ours that said it back, and in what
questions and proposals hold. Packets of threads that are over lose their content, as all do when their time
comes; the other values of the contact that mention it go. What an open thread was told stays until that is
over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.a2acp.consent.tiers import ready
from tacit.a2acp.packets import packet
from tacit.agent.consent.consenting import facts_name
from tacit.agent.memory.relationship import EVERYTHING, PREFIX, recalled
from tacit.agent.scheduling.view import CARRIERS
from tacit.base.errors import Unavailable
from tacit.base.strict_json import as_object, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.a2acp.consent.tiers import PolicyLookup
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.state import Thread
    from tacit.base.strict_json import Json, JsonObject


def erase_told(agent: AgentCore, peer: str, key: str, values: Iterable[Any]) -> list[str]:
    """Let go of a field that a counterpart told, or of all; the open threads that keep it.

    `values` are those that are known; what else was told under the key is found in the packets.
    """
    book = agent.journal.book
    threads = [
        one for one in map(book.threads.get, book.open_threads) if one is not None and one.peer == peer
    ]
    live = {one.thread_id for one in threads}
    lists = ready(agent.settings.policy())
    packets = [
        (position, thread_id, direction, packet.read(bytes(payload)).fields)
        for position, thread_id, direction, payload in agent.post.store.rows(
            "SELECT position, thread_id, direction, payload FROM history"
            " WHERE direction IN ('in', 'out') AND peer=? AND payload<>x''", peer,
        )
    ]  # fmt: skip
    told = [one for _, _, side, fields in packets if side == "in" for one in _carried(lists, fields, key)]
    texts = frozenset(one for value in (*values, *told) for one in _texts(value))
    remains: set[str] = set()
    gone: list[int] = []
    for position, thread_id, side, fields in packets:
        mentions = any(_carried(lists, fields, key)) if side == "in" else False
        if mentions or _mentions(fields, texts) or (side == "in" and not key):
            if thread_id in live:
                remains.add(thread_id)
            else:
                gone.append(position)
    with agent.post.store.transaction():
        for position in gone:
            agent.post.store.run("UPDATE history SET payload=x'' WHERE position=?", position)
    remains |= _erase_values(agent, peer, key, texts, threads)
    return sorted(remains)


def over(agent: AgentCore, peer: str, thread_id: str) -> None:
    """A thread has ended: what its owner had forgotten while it was open goes from it too."""
    thread = agent.journal.book.threads[thread_id]
    forgotten = recalled(agent.vault.value, peer).forgotten
    for key in [name for name, at in forgotten.items() if at >= thread.began]:
        erase_told(agent, peer, "" if key == EVERYTHING else key, ())


def _erase_values(
    agent: AgentCore, peer: str, key: str, texts: frozenset[str], threads: Iterable[Thread]
) -> set[str]:
    """Let go of the contact's values that mention it; the open threads that need one of them."""
    owners = {name: one.thread_id for one in threads for name in _named(agent, one)}
    remains: set[str] = set()
    gone: list[str] = []
    for value_id, raw in agent.vault.of_contact(peer):
        if value_id.startswith(PREFIX) or (key and not _mentions(parse(raw), texts)):
            continue
        owner = owners.get(value_id) or owners.get(value_id.partition(":")[0])
        if owner is None:
            gone.append(value_id)
        elif _mentions(parse(raw), texts):
            remains.add(owner)
    agent.vault.let_go(gone)
    return remains


def _named(agent: AgentCore, thread: Thread) -> Iterator[str]:
    """The values that an open thread needs."""
    yield from (thread.goal, thread.intent, thread.why, *thread.ruled_out, facts_name(thread.thread_id))
    yield from thread.approved.values()
    yield from (one.packet_id for one in thread.packets)
    book = agent.journal.book
    for one in map(book.questions.get, list(book.questions)):
        if one is not None and one.thread_id == thread.thread_id:
            yield one.content


def cut(agent: AgentCore) -> None:
    """Have the journal's log let go of what is gone; `Unavailable` when somebody reads it just now."""
    agent.vault.owes_erasing = True
    agent.vault.erase()
    if agent.vault.owes_erasing:
        raise Unavailable("somebody reads the journal now; what was forgotten is gone with the next try")


def _carried(lists: PolicyLookup, fields: JsonObject, key: str) -> list[Json]:
    """What a packet tells under a key, by whatever name; under any when none is given."""
    found: list[Json] = []
    for name in CARRIERS:
        for one, value in as_object(fields.get(name)).items():
            if not key or lists.chain(one)[-1] == key:
                found.append(value)
    return found


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        text = " ".join(value.split()).casefold()
        if len(text) > 2:
            yield text
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _mentions(value: Json, texts: frozenset[str]) -> bool:
    return any(sought in text for text in _texts(value) for sought in texts)
