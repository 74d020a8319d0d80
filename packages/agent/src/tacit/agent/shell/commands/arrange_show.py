"""How the personal agent's questions, threads and receipts read at a terminal.

Words of a counterpart are shown as quotations, and never as ours. Each question
ends with the command that answers it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.agent.terminal.commands.values import (
    SLOT,
    basis_text,
    day_text,
    hours_text,
    plain,
    value_text,
    when,
    who,
)
from tacit.base import agent_results as results
from tacit.base.commands.quotation import LONGEST as LONGEST_QUOTE
from tacit.base.commands.quotation import clean, label, quoted
from tacit.base.commands.terminal import bold, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base import agent_owner_results as owner_results

TITLES: Final = {
    "consent": "May this go to",
    "checkpoint": "A proposal, with",
    "escalation": "No way forward by itself, with",
    "first_contact": "Somebody new writes:",
    "promotion": "Three times you said yes, to",
    "scope": "It is to be about something else, with",
    "failure": "Something was left behind, with",
    "space_invite": "Into a shared space invites you",
    "space_write": "May this be known in a shared space to",
    "space_member": "New in a shared space of yours:",
}
_UNSAID: Final = frozenset({"excuses", "alternatives", "from", "counterpart"})


def question(one: results.QuestionResult) -> list[str]:
    """A question, with how it is answered."""
    kind, question_id = one.kind, one.question_id
    lines = [f"{bold(TITLES.get(kind, str(kind)))} {styled(who(one.counterpart), 'cyan')}"]
    for field in one.fields:
        known = "; ".join(value_text(value) for value in field.values)
        lines.append(f"  {label(field.field)}: {known or styled('your agent does not know it', 'yellow')}")
        reason = plain(field.reason) if field.own else f"{_name(one)} says {quoted(field.reason)}"
        lines.append(styled(f"    {field.priority}: {reason}", "dim"))
    if one.proposal:
        lines += _proposal(one.proposal)
    about = one.about or {}
    for name, value in about.items():
        if name == "remembered":
            lines += [f"  {line}" for line in remembered(_name(one), value)]
        elif name not in _UNSAID and value:
            lines.append(f"  {name.replace('_', ' ')}: {_said(value)}")
    if kind == "escalation":
        # A group's are our own agent's: whoever takes part has not written them.
        theirs = 0 if about.get("group") else len(one.choices) - 2
        lines += [
            f"  {number}: {quoted(choice) if number < theirs else choice}"
            for number, choice in enumerate(one.choices)
        ]
    command = styled(f"tacit agent answer {question_id}", "green")
    return [*lines, f"  {command} {_answer(one)}", ""]


def remembered(name: str, value: object) -> list[str]:
    """What a proposal rests on that was not said in its thread: from whom it is, and since when."""
    return [
        f"from memory, {label(one.field)}: {quoted(value_text(one.value))}"
        f" ({'you noted it' if one.told_by == 'you' else f'as {name} told'}, {when(one.since)})"
        for one in msgspec.convert(value, list[results.RememberedResult])
    ]


def _said(value: object) -> str:
    return quoted(value) if isinstance(value, str) else clean(value)[:LONGEST_QUOTE]


def _name(one: results.QuestionResult) -> str:
    return who(one.counterpart).partition("@")[0]


def offer(details: Mapping[str, object]) -> str:
    """What a yes to a proposal confirms: its day and hours, then the rest; not what somebody says of it."""
    day, hours = details.get("date"), details.get("time")
    zone = details.get("timezone") if hours and not SLOT.fullmatch(str(hours)) else None
    when = " ".join(
        one
        for one in (
            day_text(str(day)) if day else "",
            hours_text(str(hours)) if hours else "",
            label(zone) if zone else "",
        )
        if one
    )
    rest = [
        f"{label(name.replace('_', ' '))}: {value_text(value)}"
        for name, value in details.items()
        if name not in {"date", "time", "timezone"} and value
    ]
    return "; ".join(one for one in (when, *rest) if one)


def _proposal(proposal: results.ProposalResult) -> list[str]:
    by = "your agent" if proposal.by == "us" else "their agent"
    what = offer(proposal.details or {})
    lines = [f"  {bold(what)}"] if what else []
    lines += _not_as_asked(proposal)
    lines.append(f"  {by}: {quoted(proposal.summary or '')}")
    for number, other in enumerate(proposal.alternatives):
        instead = offer(other.details or {})
        lines.append(f"  --alternative {number}: {instead} {quoted(other.summary or '')}")
        lines += _not_as_asked(other)
    for action in proposal.actions:
        ours = action.executor == "us"
        line = f"  then {label(action.action)}, by {'your agent' if ours else 'theirs'}"
        if ours and not action.reversible:
            ticked = shlex.quote(label(action.tick or action.action))
            line += styled(f"; it cannot be undone: --tick {ticked}", "red")
        lines.append(line)
    return lines


def _not_as_asked(offered: results.ProposalResult | results.AlternativeResult) -> list[str]:
    """What of it is not as the owner asked."""
    return [styled(f"    {plain(one)}", "yellow") for one in offered.not_as_asked or ()]


def _answer(one: results.QuestionResult) -> str:
    match one.kind:
        case "consent":
            given = [
                # Somebody else may have named the field, and this line is made to be pasted into a shell.
                f"--share {shlex.quote(label(field.field))}" + ("" if field.values else "=VALUE")
                for field in one.fields
            ]
            return " ".join(given) + "  (or --decline FIELD, --decline-all)"
        case "checkpoint":
            return "--confirm  (or --counter FIELD=VALUE, --excuse again|leave, --refuse)"
        case "escalation":
            return "--choose N"
        case "promotion":
            return "--confirm  (share it from now on; or --dismiss)"
        case "failure":
            return "--dismiss  (once you have seen to it)"
        case _:
            return "--confirm  (or --refuse)"


def thread_line(one: results.ThreadLine) -> str:
    """A thread in one line."""
    flags = styled(f"  {', '.join(one.flags)}", "yellow") if one.flags else ""
    state = styled(f"{one.state.lower():<12}", _colour(one.state))
    return f"{one.thread_id}  {state} {plain(one.summary)}, with {who(one.with_)}{flags}"


def _colour(state: str) -> str:
    if state == "COMPLETED":
        return "green"
    return "red" if state in {"DECLINED", "FAILED", "EXPIRED", "STALLED"} else "cyan"


def thread(found: results.WholeThread) -> list[str]:
    """Everything about a thread that a person wants to read."""
    state = styled(found.state.lower(), _colour(found.state))
    reason = f" ({found.closed_reason})" if found.closed_reason else ""
    lines = [
        f"{bold(plain(found.intent.get('summary', '')))}",
        f"  {found.thread_id}, {state}{reason}"
        + (styled(f"  {', '.join(found.flags)}", "yellow") if found.flags else ""),
        f"  with {', '.join(who(one) for one in found.participants[1:])}; {found.turns} turns",
    ]
    if found.shared:
        lines.append(f"  you told: {', '.join(map(label, found.shared))}")
    if found.received:
        told = [f"{plain(name)} {value_text(value)}" for name, value in found.received.items()]
        lines.append(f"  they told: {'; '.join(told)}")
    if found.outstanding:
        lines.append(f"  still open: {', '.join(map(label, found.outstanding))}")
    for one in found.history:
        arrow = "→" if one.side == "us" else "←"
        lines.append(f"  {when(one.at)} {arrow} {plain(one.type)}")
    for one in found.actions:
        by = "your agent" if one.executor == "us" else "their agent"
        lines.append(f"  {plain(one.action)} by {by}: {one.status}")
    cost = found.cost
    if cost.calls:
        tokens = cost.input_tokens + cost.output_tokens
        lines.append(f"  models: {cost.calls} answers, {tokens} tokens, ${cost.usd:.4f}")
    return lines


def disclosures(found: list[owner_results.Disclosure]) -> list[str]:
    """Receipts: who got what, when, and what allowed it."""
    lines: list[str] = []
    for one in found:
        allowed = basis_text(one.basis)
        value = value_text(one.value) if one.value is not None else styled("forgotten", "dim")
        at, name = styled(when(one.at), "dim"), bold(label(one.field))
        lines.append(f"{at}  {who(one.to)}  {name}: {value}  {styled(allowed, 'dim')}")
    return lines


def excluded(found: list[tuple[object, str]]) -> list[str]:
    """What stood against each option."""
    return [f"{value_text(what)}: {plain(reason)}" for what, reason in found]
