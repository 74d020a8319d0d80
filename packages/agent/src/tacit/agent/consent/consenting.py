"""Where decisions meet consent: our own values for a field, and the one question that asks for several.

A2ACP-068, A2ACP-071, A2ACP-128, A2ACP-129, A2ACP-130, A2ACP-131, A2ACP-132.

An answer holds for the name that was asked about and for the value that was said: a yes to `email` says
nothing of `phone`, though both are contact details, and a yes to another value than the profile's leaves the
profile's own where it was. A yes or no to a wide name (`contact_details`) also holds for the narrower ones,
the yes as far as their values were shown. Names of times are one field: what is asked, told and proposed of
them goes by many names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import msgspec

from tacit.a2acp.consent import questions
from tacit.a2acp.consent.tiers import canonical, ready
from tacit.a2acp.packets import formats
from tacit.agent.groups import blackouts
from tacit.agent.kernel.state import GIVEN, OPEN
from tacit.agent.scheduling.view import AVAILABILITY
from tacit.base import quoting
from tacit.base.strict_json import as_object
from tacit.base.strict_json import canonical as bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.goal import Need
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Span
    from tacit.base.strict_json import Json, JsonObject

SUGGESTED: Final[dict[str, tuple[str, ...]]] = {"acceptance": ("yes", "no")}
"""What can be said to a field that only its owner can answer: nobody has to type it (A2ACP-128)."""
DRAFT: Final = "draft"
"""The subject of a question about what a program drafted: its answer gives the agent itself no turn."""
UNSURE: Final = "The value could not be read for certain: please say it with its date and offset"


def zone_of(ws: Workspace) -> str:
    """The owner's zone."""
    return str(ws.profile.get("timezone") or "UTC")


def own_value(ws: Workspace, view: View, name: str, windows: tuple[Span, ...] | None) -> Any:
    """What we could say to a field: an answer of the owner's, a fact, the calendar, or the profile.

    No windows at all is an answer too: no time inside what was asked for.
    """
    wanted = canonical(ws.policy, name)
    told = told_in(ws, view.thread.approved, own_name(ws, name))
    blocked = ready(ws.policy).chain(name)[0] == blackouts.FIELD
    if wanted == AVAILABILITY and blackouts.is_value(told) != blocked:
        # It was said in answer to the other question: when it can be, or when it cannot.
        told = None
    if told is None:
        told = _fact(ws, view.thread, name, wanted)
    if told is not None:
        return told
    if wanted == AVAILABILITY:
        zone = ZoneInfo(zone_of(ws))
        if windows is None:
            return None
        asked = view.goal.spans if view.goal is not None else ()
        return blackouts.written(asked, windows, zone) if blocked else formats.write_windows(windows, zone)
    if wanted == "handover_date":
        return ws.profile.get(name, view.theirs.get("deadline"))
    exact = ws.profile.get(name)
    if exact is not None:
        return exact
    return next((value for key, value in ws.profile.items() if canonical(ws.policy, key) == wanted), None)


def own_name(ws: Workspace, field: str) -> str:
    """The name that an answer about a field is kept under: the field's own, not that of its group."""
    return _names(ws, field)[0]


def _names(ws: Workspace, field: str) -> tuple[str, ...]:
    """The names under which an answer about a field is looked for, the nearest first."""
    names = ready(ws.policy).chain(field)
    return (AVAILABILITY,) if names[-1] == AVAILABILITY else names


def is_refused(ws: Workspace, thread: Thread, field: str) -> bool:
    """Whether the owner said no to a field in a thread; the nearest name that was asked about decides."""
    for one in _names(ws, field):
        if one in thread.refused:
            return True
        if one in thread.approved:
            return False
    return False


def allowed_by(ws: Workspace, approved: Mapping[str, str], field: str) -> str:
    """The question, or another ground, on which a field may go in a thread; empty when there is none."""
    return next((approved[one] for one in _names(ws, field) if one in approved), "")


def told_in(ws: Workspace, approved: Mapping[str, str], name: str) -> Any:
    """The value that was released under exactly this name; None when there is none."""
    question = approved.get(name, "")
    return ws.read(f"{question}:{name}") if question else None


def is_released(ws: Workspace, approved: Mapping[str, str], field: str, value: Any) -> bool:
    """Whether this very value was released in a thread, under this name or another of its group."""
    group, raw = canonical(ws.policy, field), bytes_of(value)
    for name in approved:
        if canonical(ws.policy, name) != group:
            continue
        told = told_in(ws, approved, name)
        if name == own_name(ws, field) if told is None else raw in map(bytes_of, _parts(told)):
            return True
    return False


def _parts(value: Json) -> Iterator[Json]:
    yield value
    if isinstance(value, dict):
        for inner in value.values():
            yield from _parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _parts(inner)


def facts_of(ws: Workspace, thread: Thread) -> JsonObject:
    """The values that another program of the owner's gave for this thread, by field (A2ACP-268)."""
    return as_object(as_object(ws.read(facts_name(thread.thread_id))).get("fields"))


def facts_name(thread_id: str) -> str:
    """Under which the facts of a thread lie in the vault."""
    return f"facts:{thread_id}"


def _fact(ws: Workspace, thread: Thread, name: str, wanted: str) -> Any:
    found = facts_of(ws, thread)
    exact = found.get(name)
    return (
        exact
        if exact is not None
        else next((value for key, value in found.items() if canonical(ws.policy, key) == wanted), None)
    )


def ask_consent(
    ws: Workspace,
    thread: Thread,
    held: Iterable[tuple[Need, Any]],
    *,
    subject: str,
    ticked: frozenset[str] = frozenset(),
    own: bool = True,
) -> None:
    """Ask whether fields may go, and wait: nothing of them leaves before (A2ACP-130, A2ACP-131).

    `ticked` are those that the owner's own wish needs: shown as chosen, and sent only when said (A2ACP-134).
    `own` says whose words the reasons are: ours, or the counterpart's (A2ACP-066).
    """
    fields = tuple(
        questions.ConsentField(
            field=need.field,
            reason=quoting.shown(need.reason),
            priority=need.priority,
            values=SUGGESTED.get(canonical(ws.policy, need.field), ()) if value is None else (value,),
            own=own,
        )
        for need, value in held
    )
    asked = questions.ConsentQuestion(to=thread.peer, thread_id=thread.thread_id, fields=fields)
    earlier = [
        msgspec.convert(ws.read(one.content)["asked"], questions.ConsentQuestion)
        for one in ws.open_questions(thread.thread_id, "consent")
    ]
    if earlier:
        # Urgent: what was asked before and what is asked now is one question (A2ACP-138).
        asked = questions.merged([*earlier, asked])
        ws.withdraw(thread.thread_id, "merged", "consent")
    would_send = {one.field: list(one.values) for one in asked.fields}
    shown = questions.shown(asked)
    content = {
        "asked": msgspec.to_builtins(asked),
        "fields": [one | ({"ticked": True} if one["field"] in ticked else {}) for one in shown["fields"]],
        "choices": shown["choices"],
    }
    print_of = questions.fingerprint(thread.peer, thread.thread_id, would_send)
    ws.ask(thread, "consent", content, subject=subject, fingerprint=print_of)


def note_wants(ws: Workspace, thread_id: str, gaps: Iterable[Need]) -> None:
    """Remember what we asked for."""
    wants = dict(ws.thread(thread_id).wants)
    for one in gaps:
        name = canonical(ws.policy, one.field)
        if one.reason == UNSURE:
            wants[f"{name}:clarified"] = GIVEN
        wants[name] = OPEN
    ws.change(thread_id, wants=wants)
