"""What the owner is told of a thread, in words: each feature has sentences for its codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.kernel.records import Noticed
from tacit.agent.scheduling import failures
from tacit.agent.scheduling.io import unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.base.strict_json import Json


def text_of(agent: AgentCore, notice: Noticed) -> str:
    """A notice in words: the sentence of its code, and the reason where it has one."""
    text = agent.sentences.get(notice.code, notice.code)
    if notice.code == unreadable.CODE and (reasons := unreadable.reasons_of(agent, notice)):
        return f"waits until your calendars can be read: {reasons}"
    kept: Json = agent.vault.value(notice.subject) if notice.code in failures.TOLD_WITH_REASON else None
    reason = kept.get("reason") if isinstance(kept, dict) else None
    return f"{text}. {reason}" if isinstance(reason, str) else text


def subject_of(notice: Noticed) -> str | None:
    """What else a notice names, for whoever looks it up; a reason stands in the text."""
    return None if notice.code in failures.TOLD_WITH_REASON else notice.subject or None


def since(agent: AgentCore, position: int, thread_id: str) -> Fields:
    """What was told of a thread after a position of the journal; nothing where nothing was."""
    records = agent.journal.after(position, "x.a2acp.noticed")
    texts = [
        text_of(agent, record)
        for _, record, _ in records
        if isinstance(record, Noticed) and record.thread_id == thread_id
    ]
    return {"notices": texts} if texts else {}


def last_text(agent: AgentCore, listed: Iterable[Fields], thread_id: str, code: str) -> str:
    """Of all notices the last one of a thread with this code, in words."""
    texts = [one["text"] for one in listed if one["thread_id"] == thread_id and one["code"] == code]
    return str(texts[-1]) if texts else agent.sentences.get(code, code)
