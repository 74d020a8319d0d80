"""Sessions as the bytes that are kept of them (A2ACP-243).

Of a skipped key everything but the key itself is short: keys of one chain share their header key and have no
names, so that `MAX_STORED` of them fit into `MAX_SESSION_BYTES`. A state from before, without the leading
byte, is read too. Knows nothing of where the bytes are kept, nor under which key.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from tacit.seal.session import RatchetSession

_SHORT: Final = b"\x02"
_Sessions = tuple[RatchetSession, ...]
_BYTES: Final = (bytes,)


def encode(sessions: _Sessions) -> bytes:
    """The bytes of some sessions."""
    plain = cast("list[dict[str, Any]]", msgspec.to_builtins(sessions, builtin_types=_BYTES))
    for one in plain:
        chains: dict[bytes, list[tuple[int, bytes, int]]] = {}
        for skipped in one["ratchet"]["skipped"]:
            kept = chains.setdefault(skipped["header_key"], [])
            kept.append((skipped["number"], skipped["message_key"], skipped["at"]))
        one["ratchet"]["skipped"] = list(chains.items())
    return _SHORT + msgspec.msgpack.encode(plain)


def decode(data: bytes) -> _Sessions:
    """The sessions in some bytes."""
    if not data.startswith(_SHORT):
        return msgspec.msgpack.decode(data, type=_Sessions)
    plain = msgspec.msgpack.decode(data[len(_SHORT) :], type=list[dict[str, Any]])
    for one in plain:
        one["ratchet"]["skipped"] = [
            {"header_key": header_key, "number": number, "message_key": message_key, "at": at}
            for header_key, keys in one["ratchet"]["skipped"]
            for number, message_key, at in keys
        ]
    return msgspec.convert(plain, type=_Sessions, builtin_types=_BYTES)
