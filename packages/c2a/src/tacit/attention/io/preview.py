"""A preview: what a message would do if it were sent now (C2A-206, C2A-207).

The same rules that will decide it, asked before anything is written. A name that nobody has is said here and
kept nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.attention.decide.decide import decide
from tacit.attention.decide.matrix import Situation
from tacit.attention.io.views import listed, others, takers
from tacit.attention.read.bursts import unknown_names
from tacit.attention.state import records, room_offers, room_questions
from tacit.c2a.vocabulary import Directedness, Mode, Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.decide.decision import Decision
    from tacit.attention.io.state_store import Archive
    from tacit.ledger.envelope import Event

_PARTS = ("obliges", "receipts", "claims", "knocks", "may")


def preview(archive: Archive, event: Event) -> dict[str, Any]:
    """Whom a message would oblige, notify or leave alone, and which of its names nobody has."""
    attention, roster = archive.attention, archive.roster
    state = attention.state_for(event, records.moment_of(event))
    decisions = decide(event, roster, state, attention.settings)
    shares: dict[str, list[str]] = {part: [] for part in _PARTS}
    agents = [agent for agent in sorted(decisions) if agent != event.by]
    parsed = decisions.parsed
    is_open = (
        decisions.common.situation is Situation.OPEN_REQUEST
        and parsed is not None
        and parsed.only_agent is None
    )
    for agent in agents:
        part = _part(decisions[agent])
        if part is not None and not (is_open and part in {"may", "knocks"}):
            shares[part].append(agent)
    is_open = is_open and not any(shares.values())
    if is_open:
        shares["may"] = _free(archive, event, decisions)
    text = event.data.get("text")
    unknown = unknown_names(text, roster) if isinstance(text, str) else []
    quiet = len(agents) - sum(map(len, shares.values()))
    warning = f"Nobody here is called {listed(unknown)}" if unknown else ""
    if is_open:
        sentence = f"{warning or 'Nobody is named'}. {_open(archive, event, decisions, shares['may'])}."
    else:
        sentence = "; ".join(filter(None, (warning, _said(shares, quiet, len(agents)))))
    return {
        "obliges": shares["obliges"],
        "knocks": shares["claims"] + shares["knocks"],
        "may": shares["may"],
        "receipts": shares["receipts"],
        "quiet": quiet,
        "agents": len(agents),
        "open": is_open,
        "unknown": unknown,
        "intent": parsed.intent.value if parsed is not None else None,
        "sentence": sentence,
    }


def _part(decision: Decision) -> str | None:
    """What a decision means for its agent: a part of the sentence; None for silence."""
    if decision.obliges:
        return "obliges"
    if decision.policy is Policy.ACK_ONLY:
        return "receipts"
    if decision.needs_claim and decision.directedness is Directedness.TO_MY_ROLE:
        return "claims"
    if decision.mode is Mode.NOTIFY:
        return "knocks"
    return "may" if decision.policy is Policy.MAY_RESPOND else None


def _free(archive: Archive, event: Event, decisions: Decisions) -> list[str]:
    """The agents that a question to nobody in particular can be offered to."""
    parsed = decisions.parsed
    if parsed is None:
        return []
    return sorted(room_offers.candidates(archive.attention, archive.roster, parsed.conversation, (event.by,)))


def _open(archive: Archive, event: Event, decisions: Decisions, free: Sequence[str]) -> str:
    """What becomes of a question that names nobody here."""
    if not archive.attention.settings.room_silence_ms or not room_questions.is_one(event, decisions):
        return "No agent is notified"
    return takers(free) if free else "No agent is here to take it"


def _said(shares: dict[str, list[str]], quiet: int, total: int) -> str:
    parts: list[str] = []
    for part, sentence in (
        ("obliges", "{} must reply"),
        ("receipts", "{} may only confirm receipt"),
        ("knocks", "{} will be notified"),
        ("may", "{} may reply"),
    ):
        if shares[part]:
            parts.append(sentence.format(listed(shares[part])))
    if shares["claims"]:
        parts.append(takers(shares["claims"]))
    if quiet:
        parts.append("everyone stays quiet" if quiet == total else others(quiet))
    return "; ".join(parts) or "no agent is here"
