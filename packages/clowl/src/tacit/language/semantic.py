"""The semantic layer: the model writes what it means, the runtime adds the rest.

Rows: CLOWL-082, CLOWL-083, CLOWL-086. A model writes `p`, `to`, `body`, and perhaps `ctx` and `re`, a short
handle of the message it answers. Whatever else it writes of version, ids, time, trace, sender, token or
determinism is replaced. Output that does not become a valid message is never sent: the faults go back to the
model, twice at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.base.strict_json import Json, Malformed
from tacit.base.strict_json import parse as parse_json
from tacit.language.findings import Finding, Reading
from tacit.language.reading import read_value
from tacit.language.repair import mend
from tacit.language.tables import MAX_BYTES, MAX_DEPTH, VERSION

if TYPE_CHECKING:
    from tacit.language.build import Author
    from tacit.language.message import Message

MAX_REGENERATIONS: Final = 2
_MEANING: Final = ("p", "to", "body", "ctx")
_STARTS_A_TRACE: Final = ("REQ", "QRY", "DLGT")


class Handles:
    """Short names for the messages a model has been shown: `m1`, `m2` and so on."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    def give(self, message: Message) -> str:
        """A handle to show beside the message."""
        self._messages.append(message)
        return f"m{len(self._messages)}"

    def message(self, handle: object) -> Message | None:
        """What a handle stands for."""
        if not isinstance(handle, str) or not handle.startswith("m") or not handle[1:].isascii():
            return None
        digits = handle[1:]
        if not digits.isdecimal() or len(digits) > 9:
            return None
        number = int(digits)
        return self._messages[number - 1] if 1 <= number <= len(self._messages) else None


def complete(
    output: bytes | str,
    author: Author,
    handles: Handles,
    *,
    cid: str | None = None,
    auth: str | None = None,
    det: bool = False,
    repair: bool = False,
) -> Reading:
    """The message that a model meant, with everything a runtime answers for; or every fault."""
    try:
        value = _draft(output, repair=repair)
    except Malformed as fault:
        return Reading(None, (Finding("$", "E001", str(fault), "CLOWL-086"),))
    if not isinstance(value, dict):
        return Reading(None, (Finding("$", "E001", "must be one JSON object", "CLOWL-086"),))
    parent = handles.message(value.get("re"))
    if value.get("re") is not None and parent is None:
        return Reading(None, (Finding("$.re", "E007", "is not the handle of a known message", "CLOWL-083"),))
    meant: dict[str, Any] = {name: value[name] for name in _MEANING if value.get(name) is not None}
    tid = parent.trace if parent else author.new_id() if meant.get("p") in _STARTS_A_TRACE else None
    meant |= {
        "clowl": VERSION,
        "mid": author.new_id(),
        "ts": author.now() // SECOND,
        "from": author.agent,
        "cid": parent.cid if parent else cid or author.new_id(),
    }
    meant |= {"pid": parent.mid} if parent else {}
    meant |= {"tid": tid} if tid else {}
    meant |= {"auth": auth} if auth else {}
    meant |= {"det": True} if det else {}
    return read_value(meant, strict=True)


def _draft(output: bytes | str, *, repair: bool) -> Json:
    if len(output) > MAX_BYTES:
        raise Malformed("is larger than 1 MiB")
    try:
        return parse_json(output, max_depth=MAX_DEPTH)
    except Malformed:
        if not repair:
            raise
        text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
        return parse_json(mend(text)[0], max_depth=MAX_DEPTH)


class Unwritable(Refused):
    """The model did not manage to write a valid message; with an open task its requester gets E009."""

    def __init__(self, reading: Reading) -> None:
        super().__init__("E009", "the model wrote no valid message", row="CLOWL-086")
        self.reading = reading
        self.details["faults"] = [msgspec.to_builtins(fault) for fault in reading.faults]


class Drafting:
    """Feeds faults back to a model until its message is valid, at most twice."""

    def __init__(
        self, author: Author, handles: Handles, *, cid: str | None = None, repair: bool = False
    ) -> None:
        self._author = author
        self._handles = handles
        self._cid = cid
        self._repair = repair
        self._failures = 0

    def take(self, output: bytes | str) -> Message | str:
        """The finished message, or what to tell the model so that it writes again."""
        reading = complete(output, self._author, self._handles, cid=self._cid, repair=self._repair)
        if reading.message is not None:
            return reading.message
        self._failures += 1
        if self._failures > MAX_REGENERATIONS:
            raise Unwritable(reading)
        return feedback(reading)


def feedback(reading: Reading) -> str:
    """The faults in words that a model can act on."""
    lines = [f"- {fault.path} {fault.reason}" for fault in reading.faults]
    return "Your message was not sent. Write it again as raw JSON only, with these corrected:\n" + "\n".join(
        lines
    )


def unsent(author: Author, task: Message) -> Message:
    """The E009 for the requester of an open task when drafting has failed."""
    return author.err(task, "E009", "The agent could not write a valid answer")
