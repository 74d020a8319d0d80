"""The relay's numbers in one place.

Each may be changed by its operator (A2ACP-017, A2ACP-044, A2ACP-218, A2ACP-222, A2ACP-256, A2ACP-258).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tacit.base.moment import SECOND

MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Share:
    """One part of a mailbox, and how much of it one sender gets."""

    packets: int
    bytes: int
    one_packets: int
    one_bytes: int


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """Defaults as the rows propose them."""

    per_tag: int = 100
    """Packets that wait under one tag in a mailbox."""
    per_recipient: int = 2_000
    """Packets that wait in one mailbox, a quarter of them from strangers."""
    per_recipient_bytes: int = 64 * 1024 * 1024
    """Bytes that wait in one mailbox, a quarter of them from strangers."""
    per_sender: int = 500
    """Packets of one contact that wait in a mailbox, however many tags it invents."""
    strangers_fill_a_day: int = 1
    """How often in a day strangers may fill their part of a mailbox that is emptied."""
    keep: int = 30 * DAY
    """How long a packet waits for its recipient."""
    packets_per_minute: int = 60
    """Packets of one agent in a minute."""
    burst: int = 120
    """Packets of one agent at once."""
    new_recipients_per_hour: int = 20
    """Recipients to whom one agent writes for the first time, in an hour."""
    lookups_per_minute: int = 30
    """Look-ups of one source in a minute."""
    peer_packets_per_minute: int = 6_000
    """Packets of one other relay in a minute."""
    challenge_valid: int = 30 * SECOND
    """How long a challenge may be answered."""
    login_failures: int = 5
    """Failed logins of one source before it has to wait."""
    login_window: int = 10 * MINUTE
    """For how long failed logins count."""
    silence: int = 90 * SECOND
    """How long a connection may be silent."""
    heartbeat_seconds: int = 30
    """Seconds between two signs of life."""
    hand_out_again: int = 60 * SECOND
    """When a packet that was handed out and not confirmed is handed out again."""
    window_packets: int = 256
    """Packets on their way to one agent that it has not confirmed."""
    unsent_frames: int = 2_000
    """Frames that wait to be read on one connection before it is cut off."""
    connections_per_source: int = 200
    """Open connections of one source."""
    one_time_prekeys: int = 200
    """One-time prekeys that are kept for one agent."""
    prekeys_per_minute: int = 250
    """One-time prekeys that one agent may upload in a minute."""
    prekeys_each_a_day: int = 5
    """One-time prekeys of one agent for one requester in a day."""
    prekeys_to_strangers_an_hour: int = 40
    """One-time prekeys of one agent for all strangers together in an hour."""
    prekeys_for_contacts: int = 10
    """One-time prekeys of one agent that only its contacts get."""
    prekey_request_valid: int = 5 * MINUTE
    """How long a request for prekeys may be on its way."""
    guests_open: int = 50
    """Links for people without an agent that one agent may have open."""
    guests_a_week: int = 200
    """The same, begun in a week."""
    guest_requests_per_minute: int = 30
    """Requests of one source about such links in a minute."""
    guest_command_valid: int = 5 * MINUTE
    """How long a command about such a link may be on its way."""
    new_relays_a_day: int = 20
    """Relays not met before that one source, or one agent here, may have looked up in a day."""
    pinned_relays: int = 2_000
    """Keys that are remembered of relays that the operator has not named."""
    federation_keep: int = 48 * HOUR
    """How long a packet for another relay is tried."""
    registrations_a_day: int = 100
    """Registrations that one source may begin in a day."""
    codes_to_a_mailbox_a_day: int = 20
    """Codes that are mailed to one address in a day, a quarter of them for one source."""
    recovery_mails_a_day: int = 5
    """Recovery mails to one address in a day."""
    enrolment_valid: int = 10 * MINUTE
    """How long an enrolment code may be used."""
    invite_valid: int = 7 * DAY
    """How long an invitation may be used."""
    email_code_valid: int = 15 * MINUTE
    """How long a mailed code may be used."""
    email_code_tries: int = 5
    """Wrong tries before a mailed code is void."""
    recovery_delay: int = 72 * HOUR
    """How long a recovery waits, so that its owner can stop it."""
    session_valid: int = 30 * MINUTE
    """How long a browser stays signed in to its account."""
    # Derived: a quarter of a mailbox is the strangers', the rest the contacts'.
    contacts: Share = field(init=False)
    strangers: Share = field(init=False)

    def __post_init__(self) -> None:
        packets, size = self.per_recipient // 4, self.per_recipient_bytes // 4
        strangers = Share(packets, size, max(1, packets // 4), size // 4)
        contacts = Share(self.per_recipient - packets, self.per_recipient_bytes - size, self.per_sender, size)
        object.__setattr__(self, "strangers", strangers)
        object.__setattr__(self, "contacts", contacts)

    def share(self, *, contact: bool) -> Share:
        """The part of a mailbox that a sender's packets count against."""
        return self.contacts if contact else self.strangers
