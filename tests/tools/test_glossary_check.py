"""The glossary and the code use the same nouns: each is asked for the other's."""

from __future__ import annotations

import pytest

from tools import glossary_check

CODE = '''\
"""Claims: who owns what."""


class Claim:
    """One owner of one thing."""

    holder: str

    def end(self): ...


class LateClaim(Claim):
    """A claim that came too late."""


class RPCLine:
    """A connection."""


class _Own:
    pass
'''


@pytest.fixture
def house(tmp_path):
    for folder in ("docs", "src/shop/desk"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("src/shop", "src/shop/desk"):
        (tmp_path / folder / "__init__.py").write_text('"""A room."""\n')
    (tmp_path / "src/shop/desk/claims.py").write_text(CODE)

    def check(page: str) -> list[str]:
        (tmp_path / "docs/glossary.md").write_text(page)
        return glossary_check.faults(tmp_path, "shop")

    check.root = tmp_path
    return check


def test_a_noun_covers_the_classes_that_end_in_it(house):
    assert house("| `Claim` | one owner |\n| `Line` | a connection |\n") == []
    assert house("| `Claim` | one owner |\n") == [
        "shop.desk.claims: RPCLine is in docs/glossary.md neither by its name nor by its noun"
    ]


@pytest.mark.parametrize(
    "name", ["Ghost", "desk/ghosts.py", "desk.ghosts", "Claim.ghost", "shop.desk.claims.Ghost"]
)
def test_a_name_on_the_page_that_is_not_in_the_code_fails(house, name):
    assert house(f"`Claim` `RPCLine` `{name}`") == [f"docs/glossary.md: `{name}` is not in the code"]


@pytest.mark.parametrize(
    "name",
    [
        "desk/claims.py",
        "desk.claims",
        "Claim.holder",
        "Claim.end",
        "x.c2a.claim",
        "must_respond",
        "MUST",
        "-32602",
    ],
)
def test_code_that_is_there_and_words_of_the_wire_pass(house, name):
    assert house(f"`Claim` `RPCLine` `{name}`") == []


def test_without_a_page_it_fails_and_says_every_noun(house):
    assert glossary_check.faults(house.root, "shop") == ["docs/glossary.md: there is no such page"]
    lines = glossary_check.missing(house.root, "shop")
    assert "`LateClaim` (shop.desk.claims): A claim that came too late." in lines
    assert "`claims` (shop.desk.claims): Claims: who owns what." in lines
    assert not any("_Own" in line for line in lines)
