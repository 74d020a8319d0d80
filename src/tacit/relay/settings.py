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
class Limits:
    """Defaults as the rows propose them."""

    per_tag: int = 100
    per_recipient: int = 2_000
    per_recipient_bytes: int = 64 * 1024 * 1024
    # One contact may fill a quarter of a mailbox, however many tags it invents.
    per_sender: int = 500
    # How often in a day strangers may fill their part of a mailbox that is emptied.
    strangers_fill_a_day: int = 1
    keep: int = 30 * DAY
    packets_per_minute: int = 60
    burst: int = 120
    new_recipients_per_hour: int = 20
    lookups_per_minute: int = 30
    peer_packets_per_minute: int = 6_000
    challenge_valid: int = 30 * SECOND
    login_failures: int = 5
    login_window: int = 10 * MINUTE
    silence: int = 90 * SECOND
    heartbeat_seconds: int = 30
    hand_out_again: int = 60 * SECOND
    window_packets: int = 256
    unsent_frames: int = 2_000
    connections_per_source: int = 200
    one_time_prekeys: int = 200
    prekeys_per_minute: int = 250
    # One-time prekeys of one agent: to one requester a day, to all strangers an hour, and kept for contacts.
    prekeys_each_a_day: int = 5
    prekeys_to_strangers_an_hour: int = 40
    prekeys_for_contacts: int = 10
    prekey_request_valid: int = 5 * MINUTE
    # Links for people without an agent: open at once, begun in a week, and requests of one source.
    guests_open: int = 50
    guests_a_week: int = 200
    guest_requests_per_minute: int = 30
    guest_command_valid: int = 5 * MINUTE
    # Relays not met before that one source, or one agent here, may have us look up in a day; keys of relays
    # that the operator has not named.
    new_relays_a_day: int = 20
    pinned_relays: int = 2_000
    federation_keep: int = 48 * HOUR
    # Registrations that one source may begin in a day, codes and recovery mails to one mailbox.
    registrations_a_day: int = 100
    codes_to_a_mailbox_a_day: int = 20
    recovery_mails_a_day: int = 5
    enrolment_valid: int = 10 * MINUTE
    invite_valid: int = 7 * DAY
    email_code_valid: int = 15 * MINUTE
    email_code_tries: int = 5
    recovery_delay: int = 72 * HOUR
    session_valid: int = 30 * MINUTE
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
