"""Kinds: which exist, their profile, and who may write them.

Rows: CCCS-019, CCCS-029, CCCS-030, CCCS-045, CCCS-116, CCCS-117, CCCS-118, CCCS-119. One table. Kinds in the
standard namespaces that are not in it are refused; own kinds (`x.<vendor>.*`, `vendor.<name>.*`) are stored
without being understood, except those under the house's own prefixes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from tacit.base.enums import quick_members
from tacit.ledger import shapes
from tacit.ledger.codes import denied, invalid
from tacit.ledger.principal import PrincipalKind

if TYPE_CHECKING:
    import msgspec

_U, _S, _A, _V, _P = (
    PrincipalKind.USER,
    PrincipalKind.SYSTEM,
    PrincipalKind.ACTOR,
    PrincipalKind.SERVICE,
    PrincipalKind.PERSON,
)
TALKERS: Final = frozenset({_U, _P, _A, _V})
READERS: Final = frozenset({_U, _P, _A})
NOTIFIERS: Final = frozenset({_S, _U, _V})
KEEPERS: Final = frozenset({_U, _S})

STANDARD: Final = ("chat.", "system.", "group.", "actor.", "context.", "assistant.")
HOUSE: Final = ("x.tacit.", "x.c2a.", "x.a2acp.")
PROFILES: Final = ("core", "management", "context")

_KIND: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+\Z")
_OWN: Final = re.compile(r"(x|vendor)\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+\Z")


@dataclass(frozen=True, slots=True)
class KindRule:
    """One row of the table."""

    profile: str
    writers: frozenset[PrincipalKind]
    model: type[msgspec.Struct]
    row: str
    foreman_may: bool = False


KINDS: Final[dict[str, KindRule]] = {
    "chat.message": KindRule("core", TALKERS, shapes.ChatMessage, "CCCS-046"),
    "chat.ack": KindRule("core", TALKERS, shapes.ChatAck, "CCCS-059"),
    "chat.read": KindRule("core", TALKERS, shapes.ChatRead, "CCCS-067"),
    "chat.reaction": KindRule("core", TALKERS, shapes.ChatReaction, "CCCS-073"),
    "system.notify": KindRule("core", NOTIFIERS, shapes.SystemNotify, "CCCS-078"),
    "system.notify_ack": KindRule("core", READERS, shapes.SystemNotifyAck, "CCCS-081"),
    "group.create": KindRule("management", KEEPERS, shapes.GroupCreate, "CCCS-117"),
    "group.update": KindRule("management", KEEPERS, shapes.GroupUpdate, "CCCS-117"),
    "group.attach_scope": KindRule("management", KEEPERS, shapes.GroupAttachScope, "CCCS-008"),
    "actor.add": KindRule("management", KEEPERS, shapes.ActorAdd, "CCCS-011", foreman_may=True),
    "actor.update": KindRule("management", KEEPERS, shapes.ActorUpdate, "CCCS-012", foreman_may=True),
    "actor.remove": KindRule("management", KEEPERS, shapes.ActorRemove, "CCCS-011", foreman_may=True),
    "context.sync": KindRule("context", TALKERS, shapes.ContextSync, "CCCS-118"),
    "x.tacit.person.add": KindRule("management", KEEPERS, shapes.PersonAdd, "CCCS-039"),
}


@quick_members
class About(Enum):
    """How a record of the house says whom it concerns."""

    EVENT = "event"
    """Its member holds an event's id: whoever may read the event."""
    TARGET = "target"
    """Its member holds `event:<id>` or `thread:<id>`: whoever may read that event."""
    PEOPLE = "people"
    """Its member lists the principals: they alone."""
    EVERYONE = "everyone"
    """The whole group; no member is asked."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One way to learn whom a record concerns: what it is about, and the member of its data that says it."""

    about: About
    member: str = ""


_EVENT: Final = Concern(About.EVENT, "event_id")
_PEOPLE: Final = Concern(About.PEOPLE, "for")
_EVERYONE: Final = Concern(About.EVERYONE)
CONCERNS: Final[dict[str, tuple[Concern, ...]]] = {
    "x.tacit.person.add": (_EVERYONE,),
    "x.c2a.delivery": (_EVENT,),
    "x.c2a.accepted": (_PEOPLE,),
    "x.c2a.claim": (Concern(About.TARGET, "target"),),
    "x.c2a.disposition": (_EVENT,),
    # Leaving is seen where it happens: with the message that asked for it, in its thread, else in a channel.
    "x.c2a.membership": (_EVENT, Concern(About.EVENT, "thread"), _EVERYONE),
    "x.c2a.progress": (_EVENT, _PEOPLE),
    "x.c2a.digest": (_PEOPLE,),
    "x.c2a.approval": (_PEOPLE,),
    "x.c2a.audit": (_EVENT, _PEOPLE),
    # Whoever was there has heard it; for the others nothing was said. In a channel it lists nobody.
    "x.c2a.ephemeral": (_PEOPLE,),
    "x.c2a.session": (_EVERYONE,),
    "x.c2a.rules": (_EVERYONE,),
    "x.c2a.usage": (_PEOPLE,),
    "x.c2a.work": (_EVENT,),
    "x.c2a.turn": (_EVENT,),
}
"""Whom each record of the house concerns: tried in order, the first way that its data answers counts.

A kind that is not here concerns nobody but the owner, so that a new record is private until somebody decides
otherwise. Edits, deletes and withdrawals have rules of their own, as they hang on another event's form.
"""

EXTENSION: Final = KindRule("core", TALKERS | {_S}, shapes.Extension, "CCCS-030")


def rule_for(kind: str, profiles: frozenset[str]) -> KindRule:
    """The rule of a kind; refuses what is malformed, undefined, or of a profile not offered."""
    rule = KINDS.get(kind)
    if rule is not None:
        if rule.profile not in profiles:
            raise invalid(f"this hub does not offer the {rule.profile} profile", "CCCS-119")
        return rule
    if len(kind) > 128 or not _KIND.match(kind):
        raise invalid("a kind is a non-empty dotted name such as chat.message", "CCCS-019")
    if kind.startswith(STANDARD):
        raise invalid("this kind is not defined in its standard namespace", "CCCS-029")
    if not _OWN.match(kind):
        raise invalid("own kinds are named x.<vendor>.<name> or vendor.<name>.<what>", "CCCS-030")
    return EXTENSION


def require_writer(kind: str, rule: KindRule, writer: PrincipalKind | None, role: str | None) -> None:
    """Refuse a principal that may not write this kind (CCCS-045)."""
    if rule is EXTENSION and writer is not PrincipalKind.SYSTEM and kind.startswith(HOUSE):
        raise denied("kinds under this prefix are written by the hub alone", "CCCS-045")
    if writer in rule.writers or (rule.foreman_may and role == "foreman"):
        return
    raise denied("this principal may not write this kind", "CCCS-045")
