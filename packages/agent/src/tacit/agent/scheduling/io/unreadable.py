"""A matter that waits for a calendar which cannot be read: its owner hears which one and why (A2ACP-077).

Nothing of time is decided meanwhile: no time is offered, and no "no common time" is said. The agent looks
again after a pause, and at once when its owner has changed a setting. Each reason is told once for a matter,
and once for all threads of a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tacit.agent.kernel.state import LEG

if TYPE_CHECKING:
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.records import Noticed
    from tacit.agent.kernel.workspace import Workspace

CODE: Final = "calendar_unreadable"


async def waits(agent: AgentCore, thread_id: str, reasons: tuple[str, ...]) -> None:
    """Tell the owner what a thread waits for, unless it was told already."""
    thread = agent.journal.book.threads[thread_id]
    about = thread.group if thread.role == LEG else thread_id
    known = agent.unreadable.setdefault(thread_id, agent.unreadable.setdefault(about, set()))
    if known.issuperset(reasons):
        return
    known.update(reasons)

    def noticed(ws: Workspace) -> None:
        # The reasons name a calendar: they are kept with the contact, and the journal has no word of them.
        ws.notice(about, CODE, ws.keep(thread.peer, list(reasons)))

    await agent.decide(noticed)


def reasons_of(agent: AgentCore, notice: Noticed) -> str:
    """What a notice says of the calendars, as long as it is kept."""
    kept = cast("list[str] | None", agent.vault.value(notice.subject))
    return "; ".join(kept or ())
