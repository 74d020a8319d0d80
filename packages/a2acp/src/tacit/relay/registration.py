"""What becomes of an agent's keys when it registers again: its number, and the chain of its rotations.

A2ACP-014, A2ACP-015, A2ACP-021.

A serial rises by small steps, so that whoever speaks for an agent for a moment cannot take the last number
and shut its owner out for good. The code of a recovered account may begin the numbers again, under another
key. A rotation that the key before has signed is kept in the record, so that a contact who slept can follow
it; a key without such a word ends the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tacit.base.errors import Refused
from tacit.wire import records
from tacit.wire.encoding import unb64

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.wire.records import KeyRecord, SignedStatement, Statement


@dataclass(frozen=True, slots=True)
class Registered:
    """What is registered for an address."""

    signing_key: bytes
    serial: int
    record: bytes


def check_serial(known: Registered | None, statement: Statement, *, may_reset: bool) -> None:
    """`Refused` unless the statement's number may follow the registered one."""
    last = known.serial if known is not None else 0
    if statement.reset:
        if not may_reset:
            raise Refused(
                "reset_refused", "only a code of a recovered account begins the numbers anew", row="A2ACP-015"
            )
        if known is not None and unb64(statement.signing_key) == known.signing_key:
            raise Refused("reset_refused", "numbers begin anew with a new key only", row="A2ACP-015")
        last = 0
    elif known is not None and statement.serial <= last:
        raise Refused("stale_record", "a newer key statement is already registered", row="A2ACP-015")
    if statement.serial > last + records.LARGEST_STEP:
        raise Refused(
            "serial_step", f"a serial rises by at most {records.LARGEST_STEP} at a time", row="A2ACP-015"
        )


def record_after(
    known: Registered | None,
    offered: SignedStatement,
    statement: Statement,
    verify: Callable[[bytes, bytes, bytes], bool],
) -> bytes:
    """The record to hand out, with the rotations that lead to its key."""
    rotations = _rotations(known, offered, statement, verify)
    return msgspec.json.encode(
        records.KeyRecord(
            statement=offered.statement,
            sig=offered.sig,
            rotation_sig=offered.rotation_sig,
            rotations=records.bounded_rotations(rotations),
        )
    )


def _rotations(
    known: Registered | None,
    offered: SignedStatement,
    statement: Statement,
    verify: Callable[[bytes, bytes, bytes], bool],
) -> list[SignedStatement]:
    before: list[SignedStatement] = []
    if known is not None:
        earlier: KeyRecord = records.read_record(known.record)
        before = list(earlier.rotations)
        if unb64(statement.signing_key) == known.signing_key:
            return before
        handed_over = records.rotation_signed_bytes(bytes(offered.statement))
        if offered.rotation_sig is not None and verify(
            known.signing_key, handed_over, unb64(offered.rotation_sig) or b""
        ):
            return [*before, offered]
    # Nobody can follow from the keys before to this one; where the numbers began anew is told nevertheless.
    return [offered] if statement.reset else []
