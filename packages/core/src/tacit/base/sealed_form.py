"""How a sealed file is cut: what it begins with, and how long its pieces are.

Known without the library that seals: a backup is recognised by it. What is in the pieces is
`tacit.seal.sealed_stream`'s.
"""

from __future__ import annotations

from typing import Final

MAGIC: Final = b"tacit-sealed-v1\n"
PIECE_BYTES: Final = 1 << 20
HEADER_BYTES: Final = len(MAGIC) + 41
"""The mark, how a passphrase becomes a key (9 bytes), its salt (16), and the constant part of nonces (16)."""
FRAME_BYTES: Final = 5
