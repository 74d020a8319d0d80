"""Admission: a submission is refused with a code and a row, recognised as a repeat, or admitted.

One way in for every writer. The order is always the same: shape, idempotency, who may write, then the kind's
own rule. Nothing changes here: the journal appends, the projection folds (CCCS-041, CCCS-042, CCCS-055,
CCCS-056, CCCS-057).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.base.strict_json import canonical
from tacit.ledger import rules
from tacit.ledger.codes import denied, invalid, oversized
from tacit.ledger.envelope import MAX_EVENT_BYTES, data_of, decode
from tacit.ledger.kinds import (
    CONCERNS,
    EXTENSION,
    KINDS,
    PROFILES,
    Extension,
    require_titles,
    require_writer,
    rule_for,
    shape,
)
from tacit.ledger.principal import ACTOR, SYSTEM

if TYPE_CHECKING:
    from tacit.ledger.ports import Lookup
    from tacit.ledger.state import Group
    from tacit.ledger.submission import Submission


class Admitted(msgspec.Struct, frozen=True):
    """It may happen: the data as it will be stored."""

    data: dict[str, Any]
    raw: bytes
    body: msgspec.Struct


class Repeat(msgspec.Struct, frozen=True):
    """It happened already, at this position; nothing is appended."""

    seq: int


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """What an operator may set about admission."""

    idempotency_window: Moment = Moment(300 * SECOND)
    profiles: frozenset[str] = frozenset(PROFILES)
    notice_kinds: frozenset[str] | None = None


DEFAULT: Final = AdmissionSettings()


OWN_RECORD: Final = Extension()


def is_own_record(submission: Submission) -> bool:
    """Is it a record that the engine made of its own types? There is nothing to ask of such a one.

    A record with a key (an edit that somebody may repeat) is no exception to the rule on keys, and neither is
    a large one to the limit: those go the way of all others.
    """
    return (
        submission.kind in CONCERNS
        and submission.kind not in KINDS
        and "client_id" not in submission.data
        and len(submission.raw) <= MAX_EVENT_BYTES // 2
    )


def admit(
    submission: Submission, group: Group, lookup: Lookup, now: Moment, settings: AdmissionSettings = DEFAULT
) -> Admitted | Repeat:
    """Decide one submission against the group as it stands."""
    if submission.by == SYSTEM and is_own_record(submission):
        return Admitted(submission.data, submission.raw, OWN_RECORD)
    rule = rule_for(submission.kind, settings.profiles)
    if len(submission.raw) > MAX_EVENT_BYTES:
        raise oversized()
    body = shape(submission.data, rule.model, rule.row)
    writer = group.member_kind(submission.by)
    if writer is None:
        raise denied("this principal takes no part in this group", "CCCS-004")
    if (earlier := _earlier(submission, body, lookup, now, settings)) is not None:
        return earlier
    actor = group.actor(submission.by) if writer is ACTOR else None
    require_writer(submission.kind, rule, writer, actor.role if actor else None)
    if submission.scope_key and submission.scope_key not in group.scopes:
        raise invalid("scope_key is not one that this hub assigned", "CCCS-009")
    require_titles(submission.kind, submission.data)
    if rule is EXTENSION:
        return Admitted(submission.data, submission.raw, body)
    case = rules.Case(submission.by, body, submission.data, group, lookup, settings.notice_kinds)
    outcome = rules.RULES[submission.kind](case)
    if isinstance(outcome, int):
        return Repeat(outcome)
    if outcome is None:
        return Admitted(submission.data, submission.raw, body)
    return Admitted(outcome, msgspec.json.encode(outcome), shape(outcome, rule.model, rule.row))


def _earlier(
    submission: Submission, body: msgspec.Struct, lookup: Lookup, now: Moment, settings: AdmissionSettings
) -> Repeat | None:
    key: object = getattr(body, "client_id", None)
    if not isinstance(key, str):
        return None
    earlier = lookup.submission(submission.by, key)
    if earlier is None or now - earlier.at > settings.idempotency_window:
        return None
    found = lookup.at(earlier.seq)
    # Of what was taken back nothing is left to compare: whoever sends it once more has sent it already.
    same = (
        found is not None
        and found.kind == submission.kind
        and (decode(found.raw).redacted is not None or _alike(data_of(found.raw), submission))
    )
    if not same:
        raise Refused(
            "idempotency_conflict",
            "this client_id was used for another message",
            row="CCCS-057",
            details={"remedy": "use a new client_id"},
        )
    return Repeat(earlier.seq)


_COMPLETED: Final = ("scope_key", "scopes")
_MOVED_ON: Final = ("supersedes", "original", "mentions")
"""Of an edit that is asked for again: what the hub finds out anew, after the first time stands."""
_COMPLETED_PARTS: Final = ("sha256", "bytes")


def _alike(stored: dict[str, Any], sent: Submission) -> bool:
    """Equal but for what the hub fills in itself."""
    completed = _COMPLETED
    completed += ("reply_to",) if "clowl" in sent.data else ()
    completed += _MOVED_ON if sent.by == SYSTEM else ()
    return canonical(_bare(stored, completed)) == canonical(_bare(sent.data, completed))


def _bare(data: dict[str, Any], completed: tuple[str, ...]) -> dict[str, Any]:
    bare = {name: value for name, value in data.items() if name not in completed}
    attachments = data.get("attachments")
    if isinstance(attachments, list):
        bare["attachments"] = [
            {
                name: value
                for name, value in cast("dict[str, Any]", item).items()
                if name not in _COMPLETED_PARTS
            }
            if isinstance(item, dict)
            else item
            for item in cast("list[object]", attachments)
        ]
    return bare
