"""What is kept of a guest who was asked: the name, the question as the page shows it, the fields it tells."""

from __future__ import annotations

import msgspec

from tacit.base.strict_json import JsonObject


class GuestProposal(msgspec.Struct, frozen=True):
    """What is proposed, when and where, in words."""

    summary: str
    when: str
    place: str


class GuestFact(msgspec.Struct, frozen=True):
    """A field of the owner's that the question tells."""

    label: str
    text: str


class GuestQuestion(msgspec.Struct, frozen=True):
    """What the page shows, whole: nothing else of ours reaches the guest."""

    v: int = 1
    to: str = ""
    sender: str = msgspec.field(name="from", default="")
    text: str = ""
    facts: list[GuestFact] = []
    proposal: GuestProposal | None = None
    questions: list[str] = []
    until_text: str = ""
    ics: str = ""


class GuestContent(msgspec.Struct, frozen=True):
    """Everything that is kept; empty once the guest was forgotten."""

    name: str | None = None
    question: GuestQuestion | None = None
    told: JsonObject = {}


def content_of(kept: object) -> GuestContent:
    """What was kept, as a value; an empty one when it is gone."""
    return GuestContent() if kept is None else msgspec.convert(kept, GuestContent)
