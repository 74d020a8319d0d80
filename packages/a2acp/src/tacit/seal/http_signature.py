"""HTTP message signatures between relays: RFC 9421 with Ed25519 (A2ACP-255).

Covers method, target and content digest; a signature has a time and a nonce. Whether the nonce was seen
before is the caller's memory; the time is compared with the caller's `now`.
"""

# The package ships types but re-exports without saying so.
# pyright: reportPrivateImportUsage=false, reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import http_message_signatures as rfc9421

from tacit.base.errors import PeerFault
from tacit.base.moment import SECOND, Moment
from tacit.seal import primitives

if TYPE_CHECKING:
    from collections.abc import Mapping

TAG: Final = "a2acp-federation"
COVERED: Final = ("@method", "@target-uri", "content-digest", "content-type")
MAX_SKEW: Final = 300 * SECOND


@dataclass(slots=True)
class _Request:
    method: str
    url: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class VerifiedSignature:
    """Who signed, and the nonce that must be new."""

    key_id: str
    nonce: str


class _Ed25519(rfc9421.HTTPSignatureAlgorithm):
    algorithm_id = "ed25519"

    def __init__(self, public_key: bytes | None = None, private_key: bytes | None = None) -> None:
        self.public_key = public_key
        self.private_key = private_key

    def sign(self, message: bytes) -> bytes:
        return primitives.sign(self.private_key or b"", message)

    def verify(self, signature: bytes, message: bytes) -> None:
        if not primitives.verify(self.public_key or b"", message, signature):
            raise rfc9421.InvalidSignature("signature mismatch")


class _Keys(rfc9421.HTTPSignatureKeyResolver):
    def __init__(self, public: bytes = b"", private: bytes = b"") -> None:
        self._public = public
        self._private = private

    def resolve_public_key(self, key_id: str) -> bytes:
        del key_id
        return self._public

    def resolve_private_key(self, key_id: str) -> bytes:
        del key_id
        return self._private


def sign_request(
    *,
    method: str,
    url: str,
    body: bytes,
    content_type: str,
    key_id: str,
    seed: bytes,
    now: Moment,
    nonce: str,
) -> dict[str, str]:
    """The headers to send with `body`."""
    request = _Request(method, url, {"Content-Type": content_type})
    signer = rfc9421.HTTPMessageSigner(signature_algorithm=_Ed25519, key_resolver=_Keys(private=seed))
    signer.sign(
        request,
        key_id=key_id,
        created=datetime.fromtimestamp(now / SECOND, UTC),
        nonce=nonce,
        tag=TAG,
        label="relay",
        covered_component_ids=COVERED,
        body=body,
    )
    return request.headers


def claimed_key_id(headers: Mapping[str, str]) -> str | None:
    """Whose signature it claims to be; nothing is proven by it."""
    found = headers.get("Signature-Input", "").partition('keyid="')[2].partition('"')
    return found[0] if found[1] else None


def verify_request(
    *, method: str, url: str, headers: Mapping[str, str], body: bytes, public: bytes, now: Moment
) -> VerifiedSignature:
    """The signer of a request; `PeerFault` when anything covered was altered, missing or stale."""
    request = _Request(method, url, dict(headers))
    verifier = rfc9421.HTTPMessageVerifier(signature_algorithm=_Ed25519, key_resolver=_Keys(public=public))
    # The package compares with the machine's clock; the caller's `now` decides below.
    verifier.max_clock_skew = timedelta(days=36_500)
    try:
        results = verifier.verify(
            request,
            max_age=None,
            expect_tag=TAG,
            require_components=COVERED,
            body=body,
        )
    except (rfc9421.HTTPMessageSignaturesException, ValueError, KeyError, TypeError):
        raise PeerFault("the relay signature does not hold") from None
    if len(results) != 1:
        raise PeerFault("exactly one relay signature is expected")
    parameters = results[0].parameters
    created, nonce, key_id = parameters.get("created"), parameters.get("nonce"), parameters.get("keyid")
    if not isinstance(created, int) or abs(created * SECOND - now) > MAX_SKEW:
        raise PeerFault("the relay signature is stale")
    if not isinstance(nonce, str) or not isinstance(key_id, str) or len(nonce) < 16:
        raise PeerFault("the relay signature has no nonce")
    return VerifiedSignature(key_id, nonce)
