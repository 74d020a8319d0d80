"""Where the blind relay meets cryptography: `seal` behind the relay's ports, and the relay's own key file.

The relay cannot import `seal`; this is the one place that hands it signature checks and passkey ceremonies.
None of them can open a packet.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.relay.io.mailer import LogMailer, SmtpMailer
from tacit.relay.io.server import Parts
from tacit.seal import http_signature, passkey, primitives, verifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.base.moment import Moment
    from tacit.base.ports import Clock, Entropy
    from tacit.relay.ports import Mailer

KEY: Final = "relay.key"
# Any will do: what is asked is whether the other side's point has small order, nothing is sealed with it.
_ANY_SCALAR: Final = bytes(range(1, 33))


class SealSignatures:
    """Ed25519, and RFC 9421 between relays. A relay's work is mostly verification: the faster one does it."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self.verify = verifier.verify
        self.checker = verifier.checker
        self.sound = primitives.is_sound_signing_key

    @staticmethod
    def agrees(public: bytes) -> bool:
        """Whether an agreement with `public` has a secret at all."""
        try:
            primitives.agree(_ANY_SCALAR, public)
        except primitives.CannotOpen:
            return False
        return True

    @property
    def relay_key(self) -> bytes:
        """The relay's public key."""
        return primitives.signing_public(self._seed)

    def sign_request(self, *, url: str, body: bytes, key_id: str, now: Moment, nonce: str) -> dict[str, str]:
        """Headers for a signed POST of JSON."""
        return http_signature.sign_request(
            method="POST",
            url=url,
            body=body,
            content_type="application/json",
            key_id=key_id,
            seed=self._seed,
            now=now,
            nonce=nonce,
        )

    def claimed_relay(self, headers: Mapping[str, str]) -> str | None:
        """Which relay a request claims to come from."""
        return http_signature.claimed_key_id(headers)

    def verify_request(
        self, *, url: str, headers: Mapping[str, str], body: bytes, public: bytes, now: Moment
    ) -> tuple[str, str]:
        """Key id and nonce of a signed POST."""
        found = http_signature.verify_request(
            method="POST", url=url, headers=headers, body=body, public=public, now=now
        )
        return found.key_id, found.nonce


class SealPasskeys:
    """WebAuthn for one site, in the relay's plain values."""

    def __init__(self, rp_id: str, origins: Sequence[str]) -> None:
        self._passkeys = passkey.Passkeys(passkey.Site(rp_id, tuple(origins)))

    def creation_options(
        self, *, username: str, user_id: bytes, challenge: bytes, exclude: Sequence[bytes] = ()
    ) -> dict[str, Any]:
        """What a browser needs to make a passkey."""
        return self._passkeys.creation_options(
            username=username, user_id=user_id, challenge=challenge, exclude=exclude
        )

    def created(self, response: Mapping[str, Any], challenge: bytes) -> tuple[bytes, bytes, int]:
        """Credential id, public key and counter."""
        found = self._passkeys.created(response, challenge)
        return found.credential_id, found.public_key, found.sign_count

    def request_options(self, challenge: bytes) -> dict[str, Any]:
        """What a browser needs to log in."""
        return self._passkeys.request_options(challenge)

    def asserted(self, response: Mapping[str, Any], challenge: bytes, known: tuple[bytes, bytes, int]) -> int:
        """The new counter."""
        return self._passkeys.asserted(response, challenge, passkey.PasskeyCredential(*known))


def relay_seed(data: Path, entropy: Entropy) -> bytes:
    """The relay's own signing key, made on first start, readable by its owner alone."""
    path = data / KEY
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists():
            return _read_seed(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Unavailable(f"cannot use {data} as the relay's folder: {error.strerror}") from None
    seed = entropy.draw(32)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(seed.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return seed


def _read_seed(path: Path) -> bytes:
    try:
        seed = bytes.fromhex(path.read_text("ascii").strip())
    except ValueError:
        seed = b""
    if len(seed) != 32:
        raise Corrupt("relay.key is damaged", hint="restore it from a backup; peers have pinned it")
    return seed


def parts(
    data: Path,
    *,
    public_url: str,
    mail: str = "log",
    clock: Clock | None = None,
    entropy: Entropy | None = None,
    mailer: Mailer | None = None,
    seed: bytes | None = None,
) -> Parts:
    """Everything a relay is handed. Where nodes share a key, its `seed` is given; else it is the folder's."""
    randomness = entropy or SystemEntropy()
    host = public_url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    return Parts(
        clock=clock or TimeService(),
        entropy=randomness,
        signatures=SealSignatures(seed or relay_seed(data, randomness)),
        passkeys=SealPasskeys(host, [public_url]),
        mailer=mailer or (LogMailer() if mail == "log" else SmtpMailer(mail)),
    )
