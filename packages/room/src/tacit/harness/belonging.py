"""Does a message belong to work that an agent has, or is it a question of its own?

Rows: C2A-082, C2A-083, C2A-086, C2A-180, C2A-188. Only what belongs to a question steers it or has it begun
again: the same author's reply to it or line in its thread, their continuation while the compose window would
still have taken it, their correction of it. Everything else waits its turn. What is in doubt is a question of
its own: answered apart is better than not at all. A call-off is for the work it replies to, else for its
author's own; never for another's.

Reads plain words and decides from values alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tacit.c2a.vocabulary import Directedness, Mode, Policy
from tacit.harness.question import Key, TurnQuestion, is_added, key_of
from tacit.harness.session_view import slot_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from tacit.attention.settings import Settings
    from tacit.base.moment import Moment
    from tacit.c2a.messages import Delivered

MS: Final = 1000
OWNER: Final = "user"
"""The room's owner, as the ledger names it."""
BEGUN: Final = "You may have begun on this before; check what is done already."
_READ: Final = 400
"""Characters at each end of a text that are looked at."""
_NAMED: Final = re.compile(r"\A(?:\W*@[\w.-]+[\s,:;-]*)+")


def _opening(*words: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


_APART: Final = _opening(
    r"unrelated(?:ly)?", r"off[- ]topic", r"separately", r"by the way", r"btw",
    r"(?:an? |one )?(?:different|another|other|new|separate|side|quick) "
    r"(?:question|topic|thing|task|matter|job)",
    r"(?:when|once|as soon as) you(?:'re| are) (?:done|finished|ready|free)",
    r"after (?:that|this)", r"afterwards",
)  # fmt: skip
"""Words with which people say themselves that something is for later, or about something else."""
_CORRECTS: Final = _opening(
    r"actually", r"correction", r"sorry", r"oops", r"i meant?", r"i should have said", r"no",
    r"nope", r"wait", r"hold on", r"rather", r"instead", r"make (?:that|it)", r"not \S+ but", r"typo",
)  # fmt: skip
_GOES_ON: Final = _opening(
    r"and", r"also", r"plus", r"but", r"or", r"then", r"so", r"because", r"oh", r"ps", r"with", r"without",
    r"including", r"except", r"(?:what|how) about", r"in addition", r"additionally", r"especially", r"for",
)  # fmt: skip
_POINTS_BACK: Final = re.compile(
    r"(?<!\w)(?:it|its|it's|that|this|these|those|them|they|there|same|above|too|as well)(?!\w)",
    re.IGNORECASE,
)


def _said(event: Delivered) -> str:
    """The words, without the names in front of them."""
    return _NAMED.sub("", event.text[:_READ])


def is_apart(event: Delivered) -> bool:
    """Does its author say that this is about something else?"""
    return _APART.match(_said(event)) is not None


def corrects(event: Delivered) -> bool:
    """Does it take something back that its author has just said?"""
    said = _said(event)
    return said.startswith("*") or _CORRECTS.match(said) is not None


def stands_alone(event: Delivered) -> bool:
    """Is this a whole question that needs nothing said before it?"""
    said = _said(event)
    if not event.text[-_READ:].rstrip(" \t\n\"')*_`").endswith("?"):
        return False
    return not (_GOES_ON.match(said) or _CORRECTS.match(said) or _POINTS_BACK.search(said))


def belongs(
    event: Delivered, question: TurnQuestion, since: Moment | None, now: Moment, settings: Settings
) -> bool:
    """Is this more of a question that is no longer being written?

    `since` is when we had that, by our own clock; the hub's times keep apart what was written far apart.
    """
    key, own, thread = key_of(event), question.key, question.thread
    # Who wrote it, where, and who may read it; the thread alone may differ, for a reply opens one.
    if (key[:2], key[3:]) != (own[:2], own[3:]) or is_apart(event):
        return False
    if event.thread and not thread:
        return question.holds(event.thread)
    if event.thread or thread:
        return event.thread == thread
    if corrects(event) or is_added(event):
        return True
    cap = settings.compose_cap_ms * MS
    first = question.events[0].created_at
    is_near = not (event.created_at and first) or abs(event.created_at - first) < cap
    return is_near and (since is None or now - since < cap) and not stands_alone(event)


def part_of(event: Delivered, turn_id: str, before: AbstractSet[str]) -> tuple[str, str, str, bool]:
    """What the fragments of a turn's question share, whichever thread they are in.

    What was immediate and came when the turn had begun stands beside its question; `before` it are the ids
    of what came earlier, and a turn is named by the last event of its question.
    """
    author, conversation, _, audience = key_of(event)
    is_beside = event.mode is Mode.IMMEDIATE and turn_id.rpartition(".")[0] in before
    return author, conversation, audience, is_beside


def put_together(
    waiting: Iterable[tuple[Delivered, str, int]], now: Moment, settings: Settings
) -> list[list[tuple[Delivered, int]]]:
    """What an earlier process left, each with its turn and a number, as the questions that it was.

    By turn, without what had come into it beside its question; what had none by the hub's times: only what
    was written in one go was one question.
    """
    found: dict[str, list[tuple[Delivered, int]]] = {}
    newest: dict[Key, str] = {}
    before: set[str] = set()
    for event, turn_id, number in waiting:
        key = key_of(event)
        name = f"{turn_id} {part_of(event, turn_id, before)}" if turn_id else newest.get(key, "")
        if not turn_id and not (name and _was_more(event, [one for one, _ in found[name]], now, settings)):
            name = newest[key] = f"?{event.event_id}"
        found.setdefault(name, []).append((event, number))
        before.add(event.event_id)
    return list(found.values())


def restored(
    rows: Iterable[tuple[Delivered, str, int]],
    now: Moment,
    settings: Settings,
    slots: int,
    held: Mapping[str, str],
) -> list[TurnQuestion]:
    """What an earlier process left, each event with its last turn and how often it failed, as questions.

    `held` says for which events a person was asked for a permission, and for which.
    """
    found: list[TurnQuestion] = []
    left = list(rows)
    ran = {event.event_id: slot_of(turn_id) for event, turn_id, _ in left if turn_id}
    for together in put_together(left, now, settings):
        events = tuple(event for event, _ in together)
        slot = ran.get(events[-1].event_id)
        found.append(
            TurnQuestion(
                key_of(events[-1]),
                events,
                attempt=1 + max(failed for _, failed in together),
                not_before=now,
                note=BEGUN if together[0][1] else "",
                slot=slot if slot is not None and slot < slots else None,
                waits_for=next((held[one.event_id] for one in events if one.event_id in held), ""),
            )
        )
    return found


def is_for_a_model(event: Delivered, ambient: AbstractSet[str]) -> bool:
    """Only what is pushed reaches a model, and of that no ambient traffic (C2A-003, C2A-080, C2A-091).

    But for the conversations of which the owner lets it through.
    """
    if event.mode in {Mode.SILENT, Mode.TOOL_MAILBOX}:
        return False
    if event.mode in {Mode.NOTIFY, Mode.DIGEST} or event.policy is Policy.MUST_RESPOND:
        return True
    aimed = event.directedness in {Directedness.TO_ME, Directedness.TO_MY_ROLE}
    return aimed or event.conversation in ambient


def _was_more(event: Delivered, before: list[Delivered], now: Moment, settings: Settings) -> bool:
    """Was this written in one go with what its author had written there before?"""
    quiet = event.created_at - before[-1].created_at
    if abs(quiet) < settings.compose_quiet_ms * MS:
        return not is_apart(event)
    return belongs(event, TurnQuestion(key_of(event), tuple(before)), None, now, settings)


def called_off_by(event: Delivered, questions: Iterable[TurnQuestion]) -> list[TurnQuestion]:
    """The work that a call-off means: what it replies to; else its author's own there; else anywhere.

    Work is its asker's to call off, and the owner's; a reply of anybody else is for the model to read.
    """
    known = list(questions)
    own = [one for one in known if one.key[0] == event.author.id]
    thread = event.thread or ""
    if thread:
        replied = [one for one in known if one.key[2] == thread or one.holds(thread)]
        if replied:
            return replied if event.author.id == OWNER else [one for one in replied if one in own]
    return [one for one in own if one.key[1] == event.conversation] or own
