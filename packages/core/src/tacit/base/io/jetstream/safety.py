"""Which streams and servers a ledger is entrusted to: pure, over what a server says about itself.

A ledger's stream keeps everything, refuses the newest when it is full, and lets nobody purge. One message at
a time can be deleted: that is how the content of what was taken back leaves the servers. A server
from before 2.15 is refused: older ones take settings without a word and leave them out, and store half of
an atomic batch. So what was asked for is compared with what the stream says that it is. Whether a server
syncs each write (`sync_interval: always`) no client can see: the operator has to set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST: Final = (2, 15)
WINDOW_NS: Final = 120 * 1_000_000_000


def wanted_config(name: str, replicas: int) -> dict[str, Any]:
    """The stream that is asked for."""
    return {
        "name": name,
        "subjects": [f"{name}.>"],
        "retention": "limits",
        "discard": "new",
        "storage": "file",
        "num_replicas": replicas,
        "deny_delete": False,
        "deny_purge": True,
        "allow_atomic": True,
        "duplicate_window": WINDOW_NS,
        "max_consumers": -1,
        "max_msgs": -1,
        "max_bytes": -1,
        "max_age": 0,
        "max_msg_size": -1,
        "max_msgs_per_subject": -1,
    }


_MUST_EQUAL: Final = (
    "subjects",
    "retention",
    "discard",
    "storage",
    "deny_delete",
    "deny_purge",
    "allow_atomic",
    "max_age",
    "max_msgs_per_subject",
)
_MUST_BE_OFF: Final = (
    "mirror",
    "sources",
    "sealed",
    "no_ack",
    "allow_rollup_hdrs",
    "allow_msg_ttl",
    "allow_msg_counter",
    "subject_transform",
)


def last_of_each(name: str, replicas: int) -> dict[str, Any]:
    """A stream that keeps the last message of each subject: who holds what now, and nothing of the past."""
    return {
        "name": name,
        "subjects": [f"{name}.>"],
        "retention": "limits",
        "discard": "old",
        "storage": "file",
        "num_replicas": replicas,
        "max_msgs_per_subject": 1,
    }


def unsafe(config: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What is wrong with a stream, a phrase each; empty for one that a ledger can be entrusted to."""
    wrong = [
        f"{name} is {config.get(name)!r} and must be {wanted[name]!r}"
        for name in _MUST_EQUAL
        if config.get(name, 0 if name == "max_age" else None) != wanted[name]
    ]
    wrong += [f"{name} is set" for name in _MUST_BE_OFF if config.get(name)]
    if config.get("persist_mode", "default") not in {"", "default"}:
        wrong.append("persist_mode is not the default: an answer would come before the write")
    if int(config.get("num_replicas", 1)) < int(wanted["num_replicas"]):
        wrong.append(
            f"it has {config.get('num_replicas', 1)} replicas and must have {wanted['num_replicas']}"
        )
    return wrong


def is_old(major: int, minor: int) -> bool:
    """Is a server of this version older than what this journal was tested with?"""
    return (major, minor) < OLDEST
