"""What the agent remembers of a counterpart, and the owner's word on it: look, correct, have it forgotten.

A2ACP-185, A2ACP-186, A2ACP-193, A2ACP-194. What is corrected or forgotten is gone from the disk when the
command returns: the value's place in the vault is overwritten, packets of threads that are over let go of it,
and the journal's log is cut (`erasing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.a2acp.consent.disguises import name as folded
from tacit.a2acp.consent.tiers import canonical
from tacit.a2acp.threads.states import CATEGORIES
from tacit.agent.consent.io import receipts
from tacit.agent.contacts.io import people
from tacit.agent.memory import relationship, remembering
from tacit.agent.memory.acquaintance import Acquaintance, AcquaintanceTables
from tacit.agent.memory.io import erasing
from tacit.agent.memory.known import known_of
from tacit.agent.memory.record import record_of
from tacit.agent.memory.records import CORRECTED, FORGOT, Unlearned
from tacit.agent.memory.relationship import recalled
from tacit.base.errors import Refused
from tacit.base.quoting import shown_in

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.workspace import Workspace

_ROW = "A2ACP-194"


async def memory(agent: AgentCore, who: str = "") -> Fields:
    """Everything that is remembered: of one counterpart, or of each."""
    await agent.refresh()
    found = [people.named(agent, who)] if who else agent.vault.contacts_with(relationship.PREFIX)
    return {"memory": [_record(agent, one) for one in found]}


def _record(agent: AgentCore, peer: str) -> Fields:
    book, known = agent.journal.book, agent.post.store.contact(peer)
    found = record_of(
        peer,
        book.part(AcquaintanceTables).acquaintances.get(peer, Acquaintance()),
        recalled(agent.vault.value, peer),
        agent.settings.policy().overrides.get(peer),
        {name: book.completions.get((peer, name), 0) for name in CATEGORIES},
        agent.clock.now(),
        flagged=known is not None and known.reputation.flagged,
    )
    return shown_in(found)


async def known(agent: AgentCore, who: str) -> Fields:
    """What a counterpart knows of the owner, and what of that can still be called off."""
    peer = people.named(agent, who)
    disclosed = receipts.disclosures(agent, peer)["disclosures"]
    book = agent.journal.book
    threads = [one for one in map(book.threads.get, book.open_threads) if one is not None]
    mine = sorted(one.thread_id for one in threads if one.peer == peer)
    return shown_in(known_of(peer, disclosed, agent.settings.policy(), mine))


async def edit(agent: AgentCore, who: str, key: str, value: Any) -> Fields:
    """Correct one value: it takes the old one's place, and both are noted."""
    peer = people.named(agent, who)
    if not folded(key):
        raise Refused("bad_key", "what is remembered has a name: KEY=VALUE", row=_ROW)
    if not relationship.is_small(value):
        raise Refused("bad_value", "a value says something, in at most 500 signs", row=_ROW)

    def correct(ws: Workspace) -> None:
        before = recalled(ws.read, peer)
        name = canonical(ws.policy, key)
        if name not in before.cache and len(before.cache) >= relationship.MOST_VALUES:
            raise Refused("too_much", "enough is remembered of this contact", row=_ROW)
        remembering.keep(ws, peer, relationship.corrected(before, name, value, ws.now), CORRECTED)

    await agent.decide(correct)
    agent.vault.erase()
    return _record(agent, peer)


async def forget(agent: AgentCore, who: str, key: str = "") -> Fields:
    """Have one value forgotten, or all that is remembered of a counterpart, in every byte of the folder.

    What a thread that is still open has been told stays with it, and is not learned from it; `remains_in`
    names those.
    """
    peer = people.named(agent, who)
    name = canonical(agent.settings.policy(), key) if key else ""
    before = recalled(agent.vault.value, peer)
    # The contents first: killed in between, what is remembered is still there to be forgotten.
    remains = erasing.erase_told(agent, peer, name, relationship.values_of(before, name))
    await agent.decide(lambda ws: _forgotten(ws, peer, name, keeps=bool(remains)))
    erasing.cut(agent)
    return {"agent": peer, "forgotten": name or "everything", "remains_in": remains}


def _forgotten(ws: Workspace, peer: str, name: str, *, keeps: bool) -> None:
    before = recalled(ws.read, peer)
    if name:
        remembering.keep(ws, peer, relationship.without(before, name, ws.now), FORGOT)
        return
    ws.say(Unlearned(peer))
    if keeps:
        # An open thread was told something before: that is not learned when it ends.
        after = relationship.without(relationship.Relationship(), relationship.EVERYTHING, ws.now)
        remembering.keep(ws, peer, after, FORGOT)
