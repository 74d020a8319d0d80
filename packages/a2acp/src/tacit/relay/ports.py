"""What the relay is handed from outside.

Signature checks, passkeys, post. It holds no key that opens anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.base.moment import Moment


class Signatures(Protocol):
    """Checks signatures, and makes the relay's own."""

    def verify(self, public: bytes, message: bytes, signature: bytes) -> bool:
        """Whether `signature` is `public`'s over `message`."""
        ...

    def checker(self, public: bytes) -> Callable[[bytes, bytes], bool]:
        """A check of message and signature for one key, for whoever asks often."""
        ...

    def sound(self, public: bytes) -> bool:
        """Whether `public` may be registered at all."""
        ...

    def agrees(self, public: bytes) -> bool:
        """Whether `public` is a key that one can agree with: no point of small order."""
        ...

    @property
    def relay_key(self) -> bytes:
        """The relay's own public key."""
        ...

    def sign_request(self, *, url: str, body: bytes, key_id: str, now: Moment, nonce: str) -> dict[str, str]:
        """Headers for a signed POST of JSON."""
        ...

    def claimed_relay(self, headers: Mapping[str, str]) -> str | None:
        """Which relay a request claims to come from."""
        ...

    def verify_request(
        self, *, url: str, headers: Mapping[str, str], body: bytes, public: bytes, now: Moment
    ) -> tuple[str, str]:
        """Key id and nonce of a signed POST; `PeerFault` otherwise."""
        ...


class PasskeyCeremonies(Protocol):
    """The two ceremonies of WebAuthn."""

    def creation_options(
        self, *, username: str, user_id: bytes, challenge: bytes, exclude: Sequence[bytes] = ()
    ) -> dict[str, Any]:
        """What a browser needs to make a passkey."""
        ...

    def created(self, response: Mapping[str, Any], challenge: bytes) -> tuple[bytes, bytes, int]:
        """Credential id, public key and counter; `Refused` otherwise."""
        ...

    def request_options(self, challenge: bytes) -> dict[str, Any]:
        """What a browser needs to log in."""
        ...

    def asserted(self, response: Mapping[str, Any], challenge: bytes, known: tuple[bytes, bytes, int]) -> int:
        """The new counter; `Refused` otherwise."""
        ...


class Mailer(Protocol):
    """Sends a short text to an email address."""

    async def send(self, to: str, subject: str, text: str) -> None:
        """Deliver or raise `Unavailable`."""
        ...
