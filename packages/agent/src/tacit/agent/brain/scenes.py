"""What a brain may know for one thought: of the owner, of this counterpart, of this thread, of nothing else.

A2ACP-063, A2ACP-064, A2ACP-065, A2ACP-071, A2ACP-084, A2ACP-118.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.a2acp.threads.states import CATEGORIES
from tacit.agent.brain.port import Said, Scene, Sibling
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import facts_of
from tacit.agent.kernel.state import OPEN, US
from tacit.agent.memory import remembering
from tacit.agent.scheduling import proposal_slots
from tacit.agent.scheduling.view import view_of
from tacit.agent.scheduling.wording import STYLE, told_apart

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.strict_json import Json


def scene_of(
    ws: Workspace,
    peer: str,
    thread: Thread | None = None,
    *,
    begins: str = "",
    facts: Fields | None = None,
) -> Scene:
    """The scene of a thread, or of one that is about to begin, with the facts that it begins with."""
    released = dict[str, str](thread.approved) if thread is not None else {}
    facts = {**(facts_of(ws, thread) if thread is not None else {}), **(facts or {})}
    cleared, withheld = told_apart(ws, peer, released, facts)
    own = str(cleared.get("name") or ws.me.removeprefix("agent:").partition("@")[0])
    found = Scene(
        owner=own,
        counterpart=peer,
        policy=ws.policy,
        thread_id=begins,
        profile=cleared,
        withheld=withheld,
        style=str(ws.profile.get(STYLE) or ""),
        autonomy=str(ws.choices.get("autonomy", "low")),
        completed={name: ws.book.completions.get((peer, name), 0) for name in CATEGORIES},
        memory=remembering.for_a_prompt(ws, peer),
        gives_away=sending.gives_away(ws, peer, released, facts),
    )
    return found if thread is None else _within(ws, found, thread)


def _within(ws: Workspace, scene: Scene, thread: Thread) -> Scene:
    view = view_of(ws, thread)
    history = tuple(
        Said(one.side == US, one.type, one.at, ws.packet(thread, one.packet_id, one.side))
        for one in thread.packets
    )
    return replace(
        scene,
        thread_id=thread.thread_id,
        history=history,
        shared=tuple(sorted(view.ours)),
        requested=tuple(sorted(name for name in thread.wants if ":" not in name)),
        outstanding=tuple(sorted(name for name, status in thread.wants.items() if status == OPEN)),
        siblings=tuple(_siblings(ws, thread)),
    )


def _siblings(ws: Workspace, thread: Thread) -> list[Sibling]:
    found: list[Sibling] = []
    for name in thread.siblings:
        other = ws.book.threads.get(name)
        if other is None or other.peer != thread.peer:
            continue
        value: Json = ws.read(other.intent)
        intent = value if isinstance(value, dict) else {}
        agreed = proposal_slots.chosen_details(ws, other) if other.proposal is not None else {}
        found.append(Sibling(str(intent.get("summary", "")), other.state.value, agreed))
    return found
