"""A call as somebody without root's rights makes it, so that a folder's permissions bind tests run by root."""

from __future__ import annotations

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_VERSION_3: Final = 0x20080522
_READS_AND_WRITES_ANYTHING: Final = (1 << 1) | (1 << 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


def _give_up_rights() -> None:
    """Linux keeps rights by thread: those of the other threads stay."""
    libc = ctypes.CDLL(None, use_errno=True)
    whom, rights = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(whom, rights) == 0
    rights[0] &= ~_READS_AND_WRITES_ANYTHING
    assert libc.capset(whom, rights) == 0


def as_ordinary_user(call: Callable[[], T]) -> T:
    """What the call returns when it is made under the permissions that the files say."""
    begins = _give_up_rights if os.geteuid() == 0 else None
    with ThreadPoolExecutor(1, initializer=begins) as thread:
        return thread.submit(call).result()
