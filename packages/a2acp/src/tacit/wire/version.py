"""Versions, features and encryption names, and which of them two sides share.

A2ACP-236, A2ACP-237, A2ACP-238, A2ACP-239, A2ACP-240, A2ACP-253.

The offers are values; both sides compute the same answer. Offers arrive signed, inside a key record or a
sealed packet, so nobody in between can lower them. There is no plaintext to fall back to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SUPPORTED: Final = ("0.1", "0.2")
NEWEST: Final = "a2acp/0.2"

CONTEXT_NEGOTIATION: Final = "context_negotiation"
RESOLUTION_WITH_ALTERNATIVES: Final = "resolution_with_alternatives"
THREAD_FORKING: Final = "thread_forking"
SHARED_CONTEXT_SPACES: Final = "shared_context_spaces"
MULTI_PARTY: Final = "multi_party"
# Ours, beyond the draft: the packet types of the same names (A2ACP-057, A2ACP-163, A2ACP-214).
THREAD_STATUS: Final = "thread_status"
THREAD_SYNC: Final = "thread_sync"
# A field of ours: in a group, what cannot be is asked for before anything else (`agent.group.blackouts`).
BLACKOUTS: Final = "blackouts"

SINCE: Final = {
    CONTEXT_NEGOTIATION: (0, 1),
    RESOLUTION_WITH_ALTERNATIVES: (0, 2),
    THREAD_FORKING: (0, 2),
    SHARED_CONTEXT_SPACES: (0, 2),
    MULTI_PARTY: (0, 2),
    THREAD_STATUS: (0, 2),
    THREAD_SYNC: (0, 2),
    BLACKOUTS: (0, 2),
}
"""The version in which each feature begins; profile 0.1 has plain negotiation only."""

STATELESS: Final = "x25519-xchacha20-poly1305"
RATCHET: Final = "x3dh-double-ratchet-he-xchacha20-poly1305"
ENCRYPTIONS: Final = (RATCHET, STATELESS)
"""Best first."""

_PROTOCOL: Final = re.compile(r"a2acp/(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})", re.ASCII)
_VERSION: Final = re.compile(r"(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})", re.ASCII)


def is_protocol(text: str) -> bool:
    """Whether `text` has the form `a2acp/<major>.<minor>` (A2ACP-026)."""
    return _PROTOCOL.fullmatch(text) is not None


def _number(version: str) -> tuple[int, int] | None:
    match = _VERSION.fullmatch(version)
    return (int(match[1]), int(match[2])) if match else None


def common_version(ours: Iterable[str], theirs: Iterable[str]) -> str | None:
    """`a2acp/<highest version in both>`; None when there is none (A2ACP-237, A2ACP-239)."""
    both = {number for version in ours if (number := _number(version))} & {
        number for version in theirs if (number := _number(version))
    }
    if not both:
        return None
    major, minor = max(both)
    return f"a2acp/{major}.{minor}"


def usable_features(features: Iterable[str], protocol: str) -> frozenset[str]:
    """Which of a peer's features may be used in a thread that speaks this version (A2ACP-238, A2ACP-240).

    Whatever the version, plain negotiation is what everybody can.
    """
    spoken = _number(protocol.removeprefix("a2acp/")) or (0, 1)
    known = {name for name in features if name in SINCE and SINCE[name] <= spoken}
    return frozenset(known | {CONTEXT_NEGOTIATION})


def opening_version(last_used: str | None) -> str:
    """The version of a thread's first packet.

    The last one used with that peer, else our highest (A2ACP-239).
    """
    return last_used if last_used is not None and is_protocol(last_used) else NEWEST


def common_encryption(theirs: Iterable[str]) -> str | None:
    """The best encryption of both; None stops the thread, plaintext is never an answer (A2ACP-253)."""
    offered = set(theirs)
    return next((name for name in ENCRYPTIONS if name in offered), None)
