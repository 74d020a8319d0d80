"""Links of guests in the relay's file: sealed bytes, counted and kept until their agent has them.

A2ACP-005, A2ACP-276, A2ACP-277.

Each function runs in a transaction of the writer. A link that is not there, revoked, past its time or asked
for without its proof is one and the same to whoever asks. An answer is counted when it is stored, and the
count lives in the file: no restart gives a link new answers. The same bytes again are the same answer.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, cast

from tacit.base.errors import Refused
from tacit.base.moment import earlier
from tacit.relay.settings import DAY
from tacit.wire import guests
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    import apsw

    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.relay.settings import RelayLimits


def open_link(
    file: apsw.Connection,
    account: int,
    command: guests.GuestCommand,
    question: bytes,
    proof_digest: bytes,
    *,
    now: Moment,
    limits: RelayLimits,
) -> guests.GuestStanding:
    """Keep a sealed question; the same command again changes nothing."""
    known = file.execute(
        "SELECT account, proof_digest, question, revoked FROM guests WHERE guest=?", (command.guest,)
    ).fetchone()
    if known is not None:
        if (known[0], known[1]) != (account, proof_digest) or (not known[3] and known[2] != question):
            raise Refused("bad_request", "this id is taken", row="A2ACP-276")
        return standing(file, account, command.guest, now)
    begun, still = cast(
        "tuple[int, int]",
        file.execute(
            "SELECT count(*), ifnull(sum(revoked=0 AND until>?1),0) FROM guests"
            " WHERE account=?2 AND opened_at>?3",
            (int(now), account, int(now) - guests.LONGEST_DAYS * DAY),
        ).fetchone(),
    )
    if still >= limits.guests_open or begun >= limits.guests_a_week:
        raise Refused("rate_limited", "too many links; revoke some", row="A2ACP-277")
    file.execute(
        "INSERT INTO guests (guest, account, proof_digest, question, opened_at, until) VALUES (?,?,?,?,?,?)",
        (command.guest, account, proof_digest, question, int(now), command.until),
    )
    return standing(file, account, command.guest, now)


def standing(file: apsw.Connection, account: int, guest: str, now: Moment) -> guests.GuestStanding:
    """How a link of this account stands, with the first answers that its agent has not said to have."""
    row = file.execute(
        "SELECT until, revoked, answers FROM guests WHERE guest=? AND account=?", (guest, account)
    ).fetchone()
    if row is None:
        raise gone()
    until, revoked, count = cast("tuple[int, int, int]", row)
    answers = file.execute(
        "SELECT number, at, sealed FROM guest_answers WHERE guest=? AND sealed<>x'' ORDER BY number LIMIT ?",
        (guest, guests.AT_ONCE),
    )
    return guests.GuestStanding(
        open=not revoked and until > now,
        left=max(0, guests.MOST_ANSWERS - count),
        answers=[guests.GuestAnswer(number, at, b64(sealed)) for number, at, sealed in answers],
    )


def fetch(
    file: apsw.Connection, account: int, command: guests.GuestCommand, now: ConfirmedTime
) -> guests.GuestStanding:
    """Answers after a number; those up to it are with their agent, and their bytes go."""
    standing(file, account, command.guest, now)
    file.execute(
        "UPDATE guest_answers SET sealed=x'' WHERE guest=? AND number<=?", (command.guest, command.after)
    )
    return standing(file, account, command.guest, now)


def revoke(
    file: apsw.Connection, account: int, command: guests.GuestCommand, now: ConfirmedTime
) -> guests.GuestStanding:
    """End a link: its question goes at once, its answers when their agent has them."""
    standing(file, account, command.guest, now)
    file.execute("UPDATE guests SET revoked=1, question=x'' WHERE guest=?", (command.guest,))
    return standing(file, account, command.guest, now)


def question(reader: apsw.Connection, guest: str, proof: bytes, now: Moment) -> bytes:
    """The sealed question, to whoever has the whole link."""
    return _opened(reader, guest, proof, now)[0]


def answer(
    file: apsw.Connection, guest: str, proof: bytes, sealed: bytes, now: Moment
) -> tuple[int, int, bool]:
    """Keep an answer: whose link it is, how many more it takes, and whether this one is new."""
    _, account, count = _opened(file, guest, proof, now)
    once = hashlib.blake2b(sealed, digest_size=16).digest()
    if file.execute("SELECT 1 FROM guest_answers WHERE guest=? AND once=?", (guest, once)).get:
        return account, max(0, guests.MOST_ANSWERS - count), False
    if count >= guests.MOST_ANSWERS:
        raise Refused("too_many_answers", "this link has had all its answers", row="A2ACP-277")
    number = count + 1
    file.execute("UPDATE guests SET answers=? WHERE guest=?", (number, guest))
    file.execute(
        "INSERT INTO guest_answers (guest, number, once, at, sealed) VALUES (?,?,?,?,?)",
        (guest, number, once, int(now), sealed),
    )
    return account, guests.MOST_ANSWERS - number, True


def expire(file: apsw.Connection, confirmed: ConfirmedTime, limits: RelayLimits) -> None:
    """Questions past their time go at once; the rest with what nobody fetched."""
    file.execute("UPDATE guests SET question=x'' WHERE until<=? AND question<>x''", (confirmed,))
    old = "SELECT guest FROM guests WHERE until<=?"
    kept_until = (earlier(confirmed, limits.keep),)
    file.execute(f"DELETE FROM guest_answers WHERE guest IN ({old})", kept_until)  # noqa: S608 - a fixed text
    file.execute("DELETE FROM guests WHERE until<=?", kept_until)


def account_of(reader: apsw.Connection, guest: str) -> int | None:
    """Whose link it is."""
    return cast("int | None", reader.execute("SELECT account FROM guests WHERE guest=?", (guest,)).get)


def gone() -> Refused:
    """The one answer for a link that opens nothing, whatever the reason."""
    return Refused("not_found", "this link opens nothing, or nothing any more", row="A2ACP-277")


def _opened(file: apsw.Connection, guest: str, proof: bytes, now: Moment) -> tuple[bytes, int, int]:
    row = file.execute(
        "SELECT question, account, answers FROM guests"
        " WHERE guest=? AND proof_digest=? AND revoked=0 AND until>?",
        (guest, hashlib.sha256(proof).digest(), int(now)),
    ).fetchone()
    if row is None:
        raise gone()
    return cast("tuple[bytes, int, int]", row)
