"""`tacit nodes` at a terminal."""

from __future__ import annotations

import pytest

from tacit.cli.operation.nodes import print_nodes
from tacit.cli.session import CliSession
from tacit.cli.show import counted


@pytest.mark.parametrize(("number", "said"), [(0, "0 groups"), (1, "1 group"), (2, "2 groups")])
def test_one_is_no_plural(number: int, said: str) -> None:
    assert counted(number, "group") == said


def test_each_node_has_a_line_that_counts_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"machine": "elm", "here": True, "groups": 1, "behind": 0, "asleep": 3},
        {"machine": "oak", "here": False, "groups": 12, "behind": 1},
    ]
    print_nodes(CliSession(), rows)
    _heading, *lines = capsys.readouterr().out.splitlines()
    said = [" ".join(line.split()) for line in lines]
    assert said == ["elm this one 1 group 0 messages 3 groups", "oak 12 groups 1 message 0 groups"]


def test_one_hub_is_said_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    print_nodes(CliSession(), [])
    assert capsys.readouterr().out.startswith("One hub")
