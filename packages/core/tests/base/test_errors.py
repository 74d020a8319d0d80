"""The five kinds of error: what each says of itself, in words and as data."""

from __future__ import annotations

import pytest

from tacit.base.errors import Bug, Corrupt, PeerFault, Refused, TacitError, Unavailable, WrittenByNewer


@pytest.mark.spec("CCCS-088", "CCCS-113")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Corrupt("the ledger is damaged", hint="restore it"), "the ledger is damaged (restore it)"),
        (Unavailable("the hub is away"), "the hub is away"),
        (
            WrittenByNewer("x.db", 7, 6),
            (
                "A newer version of Tacit wrote x.db: it has format 7, and this version reads formats up to 6. "
                "Use that version or a newer one; nothing was changed."
            ),
        ),
        (Refused("not_found", "no such group"), "not_found: no such group"),
        (PeerFault("no JSON"), "no JSON"),
        (Bug("two owners"), "two owners"),
    ],
)
def test_an_error_says_what_it_is(error: TacitError, words: str) -> None:
    assert str(error) == words
    assert isinstance(error, TacitError)


@pytest.mark.spec("CCCS-113")
def test_damage_names_its_remedy_and_the_parts_that_are_hurt() -> None:
    found = Corrupt("it is damaged", hint="restore it", damaged=("reads",))
    assert (found.message, found.hint, found.damaged) == ("it is damaged", "restore it", ("reads",))
    assert Corrupt("it is damaged", hint="restore it").damaged == ()


def test_whether_something_happened_is_known_unless_it_is_said_that_it_is_not() -> None:
    assert not Unavailable("away").unknown
    assert Unavailable("away", unknown=True).unknown
