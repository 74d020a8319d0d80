"""What the journal says of guests: people who are asked without having an agent (A2ACP-275, A2ACP-277).

As everywhere in the journal bodies name values by ids; what was asked and answered, by whom, and the secret
of the link are in the vault.
"""

from __future__ import annotations

from typing import Final

from tacit.agent.kernel.records import Record
from tacit.base.moment import Moment


class GuestAsked(Record, frozen=True, omit_defaults=True):
    """Somebody is to be asked by a link; the relay gets the sealed question as often as it takes."""

    guest_id: str
    thread_id: str
    packet_id: str
    content: str
    secret: str
    until: Moment
    bases: tuple[tuple[str, str], ...] = ()
    """Each field of the owner's that the question tells, and what allowed it."""
    hub: str = ""
    about: str = ""
    """The coordinator's thread of a group, and the packet of the proposal that this guest is asked about."""


class GuestKept(Record, frozen=True, omit_defaults=True):
    """The relay has the question."""

    guest_id: str


class GuestHeard(Record, frozen=True, omit_defaults=True):
    """An answer is here; `choice` is empty when it could not be read, or says only words."""

    guest_id: str
    answer: str
    source: str
    choice: str
    mac: str
    number: int = 0
    """The relay's, of an answer that came by the link."""
    readable: bool = True


class GuestPassed(Record, frozen=True, omit_defaults=True):
    """What a relay handed out under this number was here before, or is one answer too many."""

    guest_id: str
    number: int


class GuestMailed(Record, frozen=True, omit_defaults=True):
    """Exactly these words have left by mail, after their owner saw them."""

    guest_id: str
    mac: str


class GuestRevoked(Record, frozen=True, omit_defaults=True):
    """The owner took the link back: from here on no answer that came by it counts."""

    guest_id: str


class GuestEnded(Record, frozen=True, omit_defaults=True):
    """Nothing more can come by the link, and its secret is gone."""

    guest_id: str
    reason: str


KINDS: Final[dict[str, type[Record]]] = {
    "x.a2acp.guest_asked": GuestAsked,
    "x.a2acp.guest_kept": GuestKept,
    "x.a2acp.guest_heard": GuestHeard,
    "x.a2acp.guest_passed": GuestPassed,
    "x.a2acp.guest_mailed": GuestMailed,
    "x.a2acp.guest_revoked": GuestRevoked,
    "x.a2acp.guest_ended": GuestEnded,
}
