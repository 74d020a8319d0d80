"""What people see of attention: who saw an event and why, what a message would do, who is there.

Rows: C2A-206, C2A-207, C2A-226. Read from the fold and the ledger, for whoever may read the event; a text is
never quoted. Everything is a sentence first and data beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.decide.decision import PUSHED, content_shown
from tacit.attention.decide.delivery import content
from tacit.attention.decide.explain import cues_in_words, sentence
from tacit.attention.decide.matrix import Situation
from tacit.attention.io.state_store import SAID
from tacit.attention.io.work_view import AgentsNow, may_know, silent_in, work_shown
from tacit.attention.read.conversation import author_of
from tacit.attention.send.askers import everybody_behind
from tacit.attention.state import consequences, escalation, records, room_offers, timers
from tacit.attention.state.acts import RESOLVED
from tacit.attention.state.approvals import ApprovalState, may_allow, may_answer
from tacit.attention.state.claims import event_target
from tacit.attention.state.obligations import Obligation, as_delivered
from tacit.attention.state.work import OFFLINE, OUT_OF_TOUCH, AgentStatus
from tacit.base.moment import Moment, rfc3339
from tacit.c2a.messages import text_of
from tacit.c2a.signals import SIGNALS
from tacit.c2a.vocabulary import Disposition, Mode, Policy
from tacit.ledger.envelope import emptied
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from tacit.attention.decide.decide import EventDecision
    from tacit.attention.decide.decision import Decision, Rule
    from tacit.attention.io.state_store import Archive
    from tacit.attention.state.approvals import ApprovalRequest
    from tacit.ledger.envelope import Event, StoredEvent

MOST_NAMED: Final = 3
"""How many agents a sentence names; more are counted."""
REQUEST_CHARS: Final = 2_000
"""How much of a request a card quotes."""
KNOCK_BYTES: Final = 160
"""About what a knock puts into a prompt."""
SAID_BY_RULES: Final[dict[str, Rule]] = {
    rule.name: rule
    for rule in (
        room_offers.OFFERED,
        room_offers.FITS_BY_NAME,
        room_offers.FITS_BY_ROLE,
        room_offers.FITS_BY_PLACE,
        room_offers.FITS_BY_TALK,
        room_offers.FITS_BY_TIME,
        timers.ASSIGNED,
        escalation.MISSED,
        escalation.DECLINED,
        consequences.AGAIN,
    )
}
"""What the rules say by which a delivery differs from what was decided when the event came."""
_STATES: Final[dict[Disposition, str]] = {
    Disposition.RESPONDED: "answered",
    Disposition.ACKNOWLEDGED: "acknowledged",
    Disposition.DEFERRED: "deferred",
    Disposition.CLAIMED: "claimed",
    Disposition.IGNORED: "silent",
    Disposition.SUPERSEDED: "cancelled",
    Disposition.FAILED: "failed",
}


def decisions_view(archive: Archive, event_id: str, present: AgentsNow) -> dict[str, Any] | None:
    """Who saw an event, how, and why; None for what is not said to anybody."""
    attention = archive.attention
    found = archive.found(event_id)
    event = archive.past.form_of(found) if found is not None and found.kind in SAID else None
    if found is None or event is None:
        return None
    decided = archive.decided(event)
    parsed = archive.past.parsed(event)
    obligations = {obligation.session: obligation for obligation in attention.obligations.of_event(event_id)}
    shown: list[dict[str, Any]] = []
    quiet = 0
    for agent in sorted({*archive.roster.agents, *obligations}):
        obligation = obligations.get(agent)
        if obligation is None and _is_quiet(decided, agent):
            quiet += decided.situation(agent) is not Situation.OWN
            continue
        one = _one(archive, event, agent, decided, obligation, present.now)
        shown.append(_with_work(archive, one, event_id, present))
    whole = len(text_of(content(event.data)).encode())
    spent = sum(one["prompt_bytes"] for one in shown)
    everyone = quiet + len(shown)
    common = decided.decision("", attention.settings)
    latest = attention.versions.replaced_by(event_id)
    return {
        "event_id": event_id,
        "seq": found.seq,
        "intent": decided.intent.value,
        "intent_from": parsed.intent_from if parsed is not None else "text",
        "sentence": _whole_sentence(shown, quiet),
        "decisions": shown,
        "quiet": quiet,
        "quiet_sentence": sentence("Every other agent" if shown else "Every agent", common) if quiet else "",
        "quiet_rule": common.rule("policy").name if quiet else None,
        "prompt_bytes": spent,
        "saved_bytes": max(0, whole * everyone - spent),
        "replaced_by": latest,
        "deleted": attention.versions.is_deleted(event_id),
    }


def _is_quiet(decided: EventDecision, agent: str) -> bool:
    situation = decided.situation(agent)
    decision = decided.decision(agent)
    return situation is Situation.OWN or (
        decision.policy is Policy.MUST_NOT_RESPOND and decision.mode not in PUSHED
    )


def _cues(agent: str, decided: EventDecision, event: Event) -> str:
    """What told that a line goes on with the agent's dialogue, in words; nothing for any other."""
    follows = decided.follows.get(agent)
    author = author_of(event).display_name.removeprefix("usr:")
    return cues_in_words(agent, author, follows) if follows is not None else ""


def _one(
    archive: Archive,
    event: Event,
    agent: str,
    decided: EventDecision,
    obligation: Obligation | None,
    now: Moment,
) -> dict[str, Any]:
    attention = archive.attention
    decision = as_delivered(decided.decision(agent, attention.settings), obligation, SAID_BY_RULES)
    said = attention.past.get(event.id)
    thread = (said.conversation.thread if said is not None else None) or archive.original(event.id)
    held = attention.claims.holder(event_target(event.id), thread, now)
    found: dict[str, Any] = {
        "agent": agent,
        "directedness": decision.directedness.value,
        "policy": decision.policy.value,
        "mode": decision.mode.value,
        "reason": decision.reason.value,
        "priority": decision.priority.value,
        "needs_claim": decision.needs_claim,
        "rule": decision.rule("policy").name,
        "row": decision.rule("policy").row,
        "sentence": sentence(agent, decision, _cues(agent, decided, event)),
        "state": state_of(decision, obligation, agent in attention.sessions),
        "disposition": _disposition(obligation),
        "signal": obligation.signal if obligation is not None else None,
        "glyph": _glyph(obligation),
        "declined": obligation.declined if obligation is not None else False,
        "attended": agent in attention.sessions,
        "answers": [one.event_id for one in attention.answers[event.id, agent]],
        "prompt_bytes": _prompt_bytes(event, decision, obligation),
    }
    if found["state"] == "mailbox" and decision.obliges and archive.stopped_an_exchange(event.id):
        found["state"] = "stopped"
        found["sentence"] = (
            f"{agent} need not answer: the agents went in circles, and were stopped here (C2A-198)."
        )
    chosen = SAID_BY_RULES.get(obligation.because.get("chosen", "")) if obligation is not None else None
    if chosen is not None:
        found["sentence"] += f" It was {agent} because {chosen.says}."
    if obligation is not None and not found["answers"] and was_resolved(obligation):
        found["sentence"] += f" {agent} marked it as resolved; it has not answered."
    elif obligation is not None and found["state"] == "answered" and obligation.signal == "done":
        found["sentence"] += f" {agent} marked it as done, without words."
    elif obligation is not None and found["state"] == "cancelled" and obligation.note:
        found["sentence"] += f" It was called off: {obligation.note}."
    if held is not None and held.session == agent:
        found["claimed_until"] = rfc3339(held.expires_at)
        if found["state"] in {"pending", "delivered", "offered"}:
            found["state"] = "claimed"
    if obligation is not None and obligation.deadline_at is not None and not obligation.closed:
        found["deadline"] = rfc3339(obligation.deadline_at)
    reports = attention.progress.of_session(agent) if obligation is not None and not obligation.closed else ()
    moved = next((one for one in reports if one.event_id == event.id), None)
    if moved is not None and found["state"] != "expired":
        found |= {"progress": _progress_shown(moved), "state": "working"}
    if turns := attention.turns[event.id, agent]:
        found["turns"] = [records.data_of(one) for one in turns]
    return found


def _glyph(obligation: Obligation | None) -> str | None:
    if obligation is None or obligation.signal not in SIGNALS:
        return None
    return SIGNALS[obligation.signal].glyph


def _disposition(obligation: Obligation | None) -> str | None:
    return obligation.disposition.value if obligation is not None and obligation.disposition else None


def _with_work(archive: Archive, one: dict[str, Any], event_id: str, present: AgentsNow) -> dict[str, Any]:
    """A decision with how the agent's work on the event stands; what its harness said is also its state."""
    piece = archive.attention.work.get(event_id, one["agent"])
    if piece is None:
        return one
    silent = silent_in(archive, piece, present)
    work = work_shown(piece, archive.attention.work, present.place, silent)
    if silent is not None:
        one.pop("progress", None)
    state = work["state"] if piece.is_open and piece.reported else one["state"]
    return {**one, "work": work, "state": state}


def _progress_shown(report: records.ProgressRecord) -> dict[str, Any]:
    return {"value": report.progress, "total": report.total, "message": report.message}


def was_resolved(obligation: Obligation) -> bool:
    """Did its session end it without a word? Older hubs counted that as an answer."""
    return obligation.disposition is Disposition.RESPONDED and obligation.note == RESOLVED


def state_of(decision: Decision, obligation: Obligation | None, attended: bool) -> str:
    """How far it is for one agent, in one word."""
    if obligation is None:
        if not attended:
            return "not_connected"
        return "offered" if decision.needs_claim else "mailbox"
    if was_resolved(obligation):
        return _STATES[Disposition.ACKNOWLEDGED]
    if obligation.disposition is not None and (
        obligation.closed or obligation.disposition is not Disposition.ACKNOWLEDGED
    ):
        return "declined" if obligation.declined else _STATES[obligation.disposition]
    if obligation.held and obligation.policy is not Policy.MUST_RESPOND:
        return "expired"
    if not obligation.accepted:
        return "pending"
    if obligation.mode is Mode.NOTIFY:
        return "knocked"
    return "delivered"


def _prompt_bytes(event: Event, decision: Decision, obligation: Obligation | None) -> int:
    if obligation is None or decision.mode not in PUSHED:
        return 0
    return len(text_of(content(event.data)).encode()) if content_shown(obligation.mode) else KNOCK_BYTES


def _whole_sentence(shown: Sequence[dict[str, Any]], quiet: int) -> str:
    parts: list[str] = []
    named: set[str] = set()
    for verb, chosen in (
        ("failed and tries it again", [one for one in shown if _tries_again(one)]),
        ("owes a reply", [one for one in shown if one["policy"] == "must_respond" and not _over(one)]),
        (
            "marked it as done",
            [one for one in shown if one["state"] == "answered" and one["signal"] == "done"],
        ),
        ("answered", [one for one in shown if one["state"] == "answered"]),
        ("took it", [one for one in shown if one["state"] in {"claimed", "working", OUT_OF_TOUCH}]),
        ("was notified", [one for one in shown if one["mode"] == "notify" and not _over(one)]),
        ("was called off", [one for one in shown if one["state"] == "cancelled"]),
        ("could not do it", [one for one in shown if one["state"] == "failed"]),
        ("was stopped here", [one for one in shown if one["state"] == "stopped"]),
    ):
        # Each agent is named once, with the first that holds for it.
        agents = [one["agent"] for one in chosen if one["agent"] not in named]
        if agents:
            named.update(agents)
            parts.append(f"{listed(agents)} {verb if len(agents) == 1 else _PLURAL.get(verb, verb)}")
    waiting = [one["agent"] for one in shown if one["state"] == "offered"]
    if waiting and not parts:
        return f"Nobody is named. {takers(waiting)}"
    if quiet:
        parts.append(others(quiet))
    return "; ".join(parts) or "nobody is asked for anything"


def _tries_again(one: dict[str, Any]) -> bool:
    """Did it fail for a while only?"""
    work = cast("dict[str, Any]", one.get("work") or {})
    return one["state"] == "failed" and bool(work.get("open")) and work.get("retry_at") is not None


def _over(one: dict[str, Any]) -> bool:
    return one["state"] in {
        "answered",
        "cancelled",
        "stopped",
        "silent",
        "declined",
        "failed",
        "claimed",
        "working",
    }


def others(quiet: int) -> str:
    """That so many more agents stay quiet."""
    return "1 other stays quiet" if quiet == 1 else f"{quiet} others stay quiet"


_PLURAL: Final = {
    "failed and tries it again": "failed and try it again",
    "owes a reply": "owe a reply",
    "was notified": "were notified",
    "was stopped here": "were stopped here",
    "was called off": "were called off",
}


def takers(agents: Sequence[str]) -> str:
    """Which of them may take a question, as a sentence without its stop."""
    if len(agents) > MOST_NAMED:
        return f"One of {len(agents)} agents may take it"
    return f"{' or '.join(filter(None, (', '.join(agents[:-1]), agents[-1])))} may take it"


def listed(names: Sequence[str]) -> str:
    """Names in a row, or their number where they are many."""
    if len(names) > MOST_NAMED:
        return f"{len(names)} agents"
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else ""


def agents_view(
    archive: Archive, statuses: dict[str, AgentStatus], viewer: str, now: Moment
) -> list[dict[str, Any]]:
    """Who is there, busy, owing what, spending what; what concerns private talk is for its readers."""
    today = rfc3339(now)[:10]
    attention = archive.attention
    owing: dict[str, list[dict[str, Any]]] = {}
    for obligation in attention.obligations:
        if obligation.owed and may_know(archive, obligation.event_id, obligation.session, viewer):
            owed = {"event_id": obligation.event_id, "since": rfc3339(obligation.created_at)}
            if obligation.deadline_at is not None:
                owed["deadline"] = rfc3339(obligation.deadline_at)
            owing.setdefault(obligation.session, []).append(owed)
    holds: dict[str, list[str]] = {}
    for held in attention.claims:
        if may_know(archive, held.target.partition(":")[2], held.session, viewer):
            holds.setdefault(held.session, []).append(held.target)
    found: list[dict[str, Any]] = []
    for agent in sorted(archive.roster.agents):
        entry, known = archive.roster.agents[agent], attention.sessions.get(agent)
        status, detail, about = statuses.get(agent, OFFLINE)
        may_read = all(may_know(archive, event_id, agent, viewer) for event_id in about)
        spent = attention.spent.get(agent)
        reports = attention.progress.of_session(agent)
        moved = next((one for one in reports if may_know(archive, one.event_id, agent, viewer)), None)
        found.append(
            {
                "actor_id": agent,
                "role": entry.role,
                "roles": sorted(entry.roles),
                "online": agent in statuses,
                "status": status,
                "detail": detail if may_read else "",
                "attended": known is not None,
                "version": known.version if known is not None else None,
                "owes": sorted(owing.get(agent, []), key=lambda one: one["since"]),
                "claims": sorted(holds.get(agent, [])),
                "turns": spent.turns if spent else 0,
                "tokens_in": spent.tokens_in if spent else 0,
                "tokens_out": spent.tokens_out if spent else 0,
                "prompt_bytes": spent.prompt_bytes if spent else 0,
                "cost": spent.cost if spent else 0.0,
                "currency": spent.currency if spent else "",
                "duration_ms": spent.duration_ms if spent else 0,
                "estimated": spent.estimated if spent else False,
                "today": {
                    "day": spent.day,
                    "turns": spent.day_turns,
                    "tokens": spent.day_tokens,
                    "cost": spent.day_cost,
                    "duration_ms": spent.day_ms,
                    "estimated": spent.day_estimated,
                }
                if spent and spent.day == today
                else None,
                "progress": _progress_shown(moved) if moved is not None else None,
            }
        )
    return found


def approvals_view(
    archive: Archive, asked: Sequence[ApprovalRequest], principal: str
) -> list[dict[str, Any]]:
    """What waits for a person's yes or no, or was allowed for good: of all that this person may know."""
    return [_approval_shown(archive, one, principal) for one in asked if may_answer(one, principal)]


def _approval_shown(archive: Archive, asked: ApprovalRequest, principal: str) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "approval_id": asked.approval_id,
        "session": asked.session,
        "kind": asked.kind,
        "asked_at": rfc3339(asked.at),
        "event_id": asked.event_id,
        "asked_by": list(asked.asked_by) or [USER],
        "request": _request(archive, asked, principal),
    }
    if asked.state is ApprovalState.ASKED:
        askers = everybody_behind(asked.events, asked.session, archive)
        shown["may_allow"] = may_allow(asked, principal, askers)
    if asked.kind != "send":
        names = ("title", "details", "directory", "worktree", "covers", "turn", "answered_by")
        shown |= {name: getattr(asked, name) for name in names}
    return shown


def _request(archive: Archive, asked: ApprovalRequest, principal: str) -> dict[str, Any] | None:
    """What was asked of the agent, in its asker's words, for whoever may read them."""
    stored = archive.found(asked.event_id) if asked.event_id is not None else None
    event = archive.form_for(stored, principal) if stored is not None else None
    if stored is None or event is None:
        return None
    return {"seq": stored.seq, "by": stored.by, "text": str(event.data.get("text") or "")[:REQUEST_CHARS]}


def has_changed_messages(connection: apsw.Connection, number: int) -> bool:
    """Was anything ever edited or taken back in this group? Mostly not, and then nothing is looked up."""
    row = connection.execute(
        "SELECT 1 FROM folds WHERE group_no=? AND fold='message_form' LIMIT 1", (number,)
    ).fetchone()
    return row is not None


def current(archive: Archive, found: StoredEvent) -> dict[str, Any] | None:
    """A message as it stands now, when that is not what the ledger's event says: edited, or taken back.

    None when the event says it all. The event keeps its id and position. An edit is shown as it was written,
    until the message is taken back.
    """
    versions = archive.attention.versions
    if found.kind not in {"chat.message", "x.c2a.edit"} or not versions.is_superseded(found.event_id):
        return None
    if versions.is_deleted(found.event_id):
        return emptied(found)
    if found.kind == "x.c2a.edit":
        return None
    latest = archive.past.form(versions.latest(found.event_id))
    if latest is None:
        return None
    shown: dict[str, Any] = msgspec.json.decode(found.raw)
    data = {name: value for name, value in latest.data.items() if name != "supersedes"}
    return {**shown, "data": {**data, "edited": {"event_id": latest.id, "ts": latest.ts}}}
