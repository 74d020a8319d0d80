"""Size buckets: a sealed body has one of few lengths, so that its length tells little (A2ACP-252).

Each bucket is a multiple of 256 bytes and at most half as large again as the one before. Knows nothing of
how a body is filled up.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from tacit.base.errors import Refused
from tacit.wire import codes

BUCKETS: Final = (
    256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384,
    24_576, 32_768, 49_152, 65_536, 98_304, 131_072, 163_840,
)  # fmt: skip
LARGEST: Final = BUCKETS[-1]
# Unpadded base64 lengths of the buckets: the relay judges a body's size without decoding it.
TEXT_LENGTHS: Final = frozenset(-(-size * 4 // 3) for size in BUCKETS)


def bucket_for(length: int) -> int:
    """The smallest bucket that holds `length` bytes; `Refused` with `too_large` beyond the largest."""
    index = bisect_left(BUCKETS, length)
    if index == len(BUCKETS):
        raise Refused(codes.TOO_LARGE, f"a sealed body holds at most {LARGEST} bytes", row="A2ACP-044")
    return BUCKETS[index]
