"""The written forms that packets ask for: ids, addresses, times, durations (A2ACP-026, A2ACP-027, A2ACP-028).

Each has the pattern that is published for other programs beside the function that we ask ourselves. Where
the two differ, the function is the narrower: a pattern cannot count the days of February.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.formats import DURATION_PATTERN, read_duration
from tacit.a2acp.packets.shapes import Form
from tacit.base.errors import Refused
from tacit.wire import address
from tacit.wire.envelope import timestamp_of
from tacit.wire.version import is_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"


def _by_pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _form(name: str, pattern: str, holds: Callable[[str], bool] | None = None) -> Form:
    return Form(name, pattern, holds or _by_pattern(pattern))


def _is_address(text: str) -> bool:
    try:
        address.parse(text)
    except Refused:
        return False
    return True


def _is_duration(text: str) -> bool:
    return _ISO_DURATION(text) and read_duration(text) is not None


_ISO_DURATION: Final = _by_pattern(DURATION_PATTERN)

PROTOCOL: Final = _form(
    "version of the form a2acp/<major>.<minor>",
    r"a2acp/(?:0|[1-9][0-9]{0,3})\.(?:0|[1-9][0-9]{0,3})",
    is_protocol,
)
PACKET_ID: Final = _form("packet id", "pkt_[A-Za-z0-9_-]{4,64}")
FANOUT_ID: Final = _form("fan-out id", "fan_[A-Za-z0-9_-]{4,64}")
THREAD_ID: Final = _form("thread id", "thr_[A-Za-z0-9_-]{4,64}")
SPACE_ID: Final = _form("space id", "spc_[A-Za-z0-9_-]{4,64}")
TIMESTAMP: Final = _form(
    "ISO 8601 time in UTC with a trailing Z",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z",
    lambda text: timestamp_of(text) is not None,
)
ADDRESS: Final = _form(
    "agent address",
    r"agent:[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?@"
    rf"(?=[^:]{{1,253}}(?::|$)){_LABEL}(?:\.{_LABEL})*(?::[1-9][0-9]{{0,4}})?",
    _is_address,
)
DURATION: Final = _form("ISO 8601 duration", DURATION_PATTERN, _is_duration)
CODE_WORD: Final = _form("lower-case word", "[a-z][a-z0-9_]{0,63}")
EXECUTOR: Final = _form(
    "executor: each, proposer or an address",
    rf"(?:each|proposer|{ADDRESS.pattern})",
    lambda text: text in {"each", "proposer"} or _is_address(text),
)
