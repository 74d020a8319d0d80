"""What happens to a packet on its way in: the order of checks and the code of each refusal.

A2ACP-006, A2ACP-018, A2ACP-249, A2ACP-254.

Cheap checks stand before the signature, so that a flood costs little. Whatever is refused was neither routed
nor queued. Sees the envelope only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tacit.base.errors import Refused
from tacit.wire import address, codes, envelope
from tacit.wire.encoding import unb64

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.base.moment import Moment
    from tacit.relay.rate import PerMinute, Reputation
    from tacit.wire.envelope import Envelope


class RateLimited(Refused):
    """Too much at once; `retry_after` says when."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            codes.RATE_LIMITED,
            "this was too much for now; come again later",
            row="A2ACP-257",
            details={"retry_after": seconds},
        )
        self.retry_after = seconds


def retry_after(refused: Refused) -> int | None:
    """The seconds a refusal asks for, if coming again is any use."""
    return refused.retry_after if isinstance(refused, RateLimited) else None


class FirstContacts(Protocol):
    """Whom the agents of this relay have written to."""

    def admit(self, account: int, to: str, now: Moment) -> int:
        """0 when an account may write to an address, else the seconds until it may."""
        ...


class PacketChecks:
    """The checks that every packet passes, local or from another relay."""

    def __init__(
        self, *, rates: PerMinute, prekeys: PerMinute, first_contacts: FirstContacts, reputation: Reputation
    ) -> None:
        self._rates = rates
        self._prekeys = prekeys
        self._first_contacts = first_contacts
        self._reputation = reputation

    def from_agent(self, raw: bytes, *, speaker: str, now: Moment) -> Envelope:
        """The envelope of a packet that an authenticated agent sent, or `Refused`.

        The rate comes first of all: what cannot be read, or is not the speaker's to send, counts as well.
        """
        self.rate(speaker, now)
        found = envelope.read(raw)
        if found.sender != speaker:
            raise Refused(codes.FROM_MISMATCH, "from is not the authenticated address", row="A2ACP-249")
        return found

    def rate(self, sender: str, now: Moment) -> None:
        """One packet of a sender, local or not (A2ACP-256, A2ACP-257)."""
        wait = self._rates.take(sender, now, share=self._reputation.share(sender))
        if wait:
            self._reputation.change(sender, self._reputation.RATE_HIT)
            raise RateLimited(wait)

    def prekeys(self, speaker: str, count: int, now: Moment) -> None:
        """So many prekeys of an agent, each of which costs a signature check."""
        wait = self._prekeys.take(speaker, now, count=count)
        if wait:
            raise RateLimited(wait)

    def first_contact(self, account: int, to: str, now: Moment) -> None:
        """At most so many new recipients an hour."""
        wait = self._first_contacts.admit(account, to, now)
        if wait:
            raise RateLimited(wait)

    def from_relay(self, raw: bytes, *, signer: str, own_domain: str) -> Envelope:
        """The envelope of a packet that another relay passed on.

        One hop, from its own agents only (A2ACP-255).
        """
        found = envelope.read(raw)
        # Both ends are looked at: a relay that could speak for others, or through us, would be a way around
        # the rules of the relay in between.
        if address.parse(found.sender).domain != signer:
            raise Refused(codes.FROM_MISMATCH, "from does not belong to the signing relay", row="A2ACP-255")
        if address.parse(found.recipient).domain != own_domain:
            raise Refused(codes.UNKNOWN_RECIPIENT, "to is not an address of this relay", row="A2ACP-255")
        return found

    def check_signature(self, found: Envelope, sig: str, check: Callable[[bytes, bytes], bool]) -> None:
        """The agent's own signature, over the bytes as received."""
        signature = unb64(sig)
        if signature is None or not check(envelope.signed_bytes(found.raw), signature):
            self._reputation.change(found.sender, self._reputation.BAD_SIGNATURE)
            raise Refused(codes.BAD_SIGNATURE, "the signature does not hold", row="A2ACP-249")
