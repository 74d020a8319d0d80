"""Padding to a given length: one 0x80, then zeros (ISO/IEC 7816-4) (A2ACP-252).

Which lengths are given is the caller's rule. Padding stands inside the authenticated ciphertext.
"""

from __future__ import annotations

from tacit.seal.primitives import CannotOpen


def pad(payload: bytes, length: int) -> bytes:
    """`payload` filled up to `length`, which is at least one more than it has."""
    return payload + b"\x80" + bytes(length - len(payload) - 1)


def unpad(padded: bytes) -> bytes:
    """The payload; `CannotOpen` when the end is not padding."""
    stripped = padded.rstrip(b"\x00")
    if not stripped.endswith(b"\x80"):
        raise CannotOpen
    return stripped[:-1]
