"""Errors in answer to messages: when one may be sent, and what it says (CLOWL-059, CLOWL-062, CLOWL-065).

No error storms: nothing answers an ERR, ACK, DONE or PROG, nor a broadcast, save E014 to who announced
itself. Works on what could not be read, too; a token that was in there is not quoted back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import UNSET

from tacit.base.moment import SECOND
from tacit.base.strict_json import Malformed
from tacit.language.build import error_data
from tacit.language.message import Body, Message
from tacit.language.reading import check, value_in
from tacit.language.rules import Findings, check_name
from tacit.language.tables import BROADCAST, SYSTEM_CID, VERSION
from tacit.language.version import SUPPORTED

if TYPE_CHECKING:
    from tacit.language.build import Author
    from tacit.language.findings import Reading

_NEVER_ANSWERED: Final = ("ERR", "ACK", "DONE", "PROG")  # compared, not hashed: `p` may be anything
MAX_QUOTE: Final = 80
_MAX_FAULTS: Final = 20


def may_answer(performative: object, to: object, code: str) -> bool:
    """Whether an ERR with `code` may answer a message of this kind to these recipients."""
    if performative in _NEVER_ANSWERED:
        return False
    if performative == "CAPS":
        return code == "E014"
    return to != BROADCAST


def answer(author: Author, message: Message, code: str, msg: str, **data: Any) -> Message | None:
    """The ERR to a message that was read; None where no ERR may be sent."""
    if not may_answer(message.p, message.to, code) or message.sender == author.agent:
        return None
    if code == "E014":
        data.setdefault("supported", list(SUPPORTED))
    return author.err(message, code, msg, data=data)


def answer_reading(author: Author, reading: Reading, data: bytes | str) -> Message | None:
    """The ERR to something that could not be read as a message; None where no ERR may be sent."""
    if reading.message is not None:
        return None
    try:
        value, _ = value_in(data)
    except Malformed:
        return None  # without a readable `from` there is nobody to answer
    return answer_value(author, reading, value, data)


def answer_value(author: Author, reading: Reading, value: object, data: bytes | str = b"") -> Message | None:
    """The same for an object that is parsed already."""
    if not isinstance(value, dict) or not reading.faults:
        return None
    broken = cast("dict[str, object]", value)
    sender = _readable(broken, "from")
    code = reading.code
    if sender is None or sender in {BROADCAST, author.agent}:
        return None
    if not may_answer(broken.get("p"), broken.get("to"), code):
        return None
    return check(
        Message(
            clowl=VERSION,
            mid=author.new_id(),
            ts=author.now() // SECOND,
            tid=_readable(broken, "tid") or UNSET,
            pid=_readable(broken, "mid"),
            p="ERR",
            from_=author.agent,
            to=sender,
            cid=_readable(broken, "cid") or SYSTEM_CID,
            body=Body("error", _error_of(reading, broken, data)),
        )
    )


def _error_of(reading: Reading, broken: dict[str, object], data: bytes | str) -> dict[str, Any]:
    count = len(reading.faults)
    first = reading.faults[0]
    said: dict[str, Any] = {
        "faults": [msgspec.to_builtins(fault) for fault in reading.faults[:_MAX_FAULTS]],
    }
    if reading.code == "E014":
        said["supported"] = list(SUPPORTED)
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    if text and "auth" not in broken:
        said["quote"] = text[:MAX_QUOTE]
    msg = f"{count} fault{'' if count == 1 else 's'}; first: {first.path} {first.reason}"
    return error_data(reading.code, msg, data=said)


def _readable(broken: dict[str, object], member: str) -> str | None:
    found = Findings(strict=True)
    value = broken.get(member)
    return str(value) if check_name("$", value, "", found) else None
