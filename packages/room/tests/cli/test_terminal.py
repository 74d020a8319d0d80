"""What a person reads is what was written: no name, message, file or hint is taken for markup."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.commands.terminal import Table, Terminal, bold, cells, styled
from tacit.cli import show
from tacit.cli.operation.doctor import DoctorFinding
from tacit.harness.drivers import catalogue
from tests.shell import signed_in
from tools.places import modules

if TYPE_CHECKING:
    from tests.shell import Shell

BRACKETS = "[bold]x[/bold] tacit[codex] [/] [red :smile: [link=x]y"
SOURCES = {path: where for path, where in modules() if where.startswith("cli/") or "/commands/" in where}


def test_a_line_and_a_table_come_out_as_they_went_in(capsys):
    out = Terminal()
    out.print(BRACKETS)
    out.print(BRACKETS, style="bold red")
    table = Table("name")
    table.add(BRACKETS)
    out.print(table)
    assert capsys.readouterr().out.count(BRACKETS) == 3


def test_a_table_stands_in_columns_of_cells_under_its_headings():
    table = Table("name", "", "events", right={"events"}, caption="of today")
    table.add("日本", "a", "7")
    table.add("ada", "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}", "120")
    table.add("ben")
    assert [click.unstyle(line) for line in table.lines()] == [
        "name      events",
        "日本  a        7",
        "ada   \N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}     120",
        "ben",
        "of today",
    ]


def test_a_table_without_headings_begins_with_its_first_row():
    table = Table("", "")
    table.add("limit", "3")
    assert list(table.lines()) == ["limit  3"]


def test_what_is_too_long_for_a_column_goes_on_below_and_nothing_is_lost():
    table = Table("agent", "question")
    table.add("ada", "which of the two reports is the right one, and who says so")
    table.add("ben", "x" * 30)
    lines = [click.unstyle(line) for line in table.lines(24)]
    assert all(len(line) <= 24 for line in lines)
    assert lines[:3] == ["agent  question", "ada    which of the two", "       reports is the"]
    assert "".join(lines).count("x") == 30


@given(
    st.lists(
        st.lists(st.text(st.sampled_from("ab 日é\n-"), max_size=20), min_size=3, max_size=3), max_size=4
    ),
    st.integers(1, 60),
)
def test_no_line_of_a_table_is_wider_than_it_may_be_and_no_letter_is_lost(rows, width):
    table = Table("x", "y", "z")
    for row in rows:
        table.add(*row)
    lines = [click.unstyle(line) for line in table.lines(width)]
    assert all(cells(line) <= max(width, 3 * 8 + 2 * 2) for line in lines)
    letters = Counter("".join(lines[1:]))
    for letter in "ab日é-":
        assert letters[letter] == sum(cell.count(letter) for row in rows for cell in row)


def test_only_a_terminal_breaks_a_table(capsys, monkeypatch):
    table = Table("name", "folder")
    table.add("ada", "word " * 40)
    Terminal().print(table)
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setattr(Terminal, "is_watched", True)
    monkeypatch.setenv("COLUMNS", "40")
    Terminal().print(table)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40


def test_a_cell_has_its_style_on_every_line_and_no_padding_has_it():
    table = Table("state", "x")
    table.add(("waiting long", "yellow"), "1")
    assert list(table.lines(11))[1:] == ["\x1b[33mwaiting\x1b[0m   1", "\x1b[33mlong\x1b[0m"]


def test_styles_are_left_out_where_nobody_can_see_them(capsys, monkeypatch):
    Terminal().print(f"{bold('a')} {styled('b', 'dim green')}")
    assert capsys.readouterr().out == "a b\n"
    assert styled("b", "dim green") == "\x1b[32m\x1b[2mb\x1b[0m"
    assert styled("b", "") == "b"


@pytest.mark.parametrize("source", SOURCES, ids=SOURCES.values())
def test_no_command_writes_markup(source):
    text = source.read_text(encoding="utf-8")
    assert re.findall(r"\[/?(?:bold|dim|italic|red|green|yellow|cyan|/)\b[^\]]*\]", text) == []


@pytest.mark.parametrize("entry", catalogue.CATALOGUE, ids=lambda entry: entry.name)
def test_the_doctor_says_what_to_install_with_the_extra_in_brackets(entry, capsys):
    Terminal().print(f"  {DoctorFinding('x', ok=False, found='', advice=entry.install).advice}", style="dim")
    assert entry.install in capsys.readouterr().out


def test_names_texts_and_titles_with_brackets_pass_through_every_command(shell: Shell, tmp_path):
    shell.start()
    shell.run("group", "new", BRACKETS)
    shell.run("actor", "add", BRACKETS, "ada", "--title", BRACKETS, "--skill", "backend")
    file = tmp_path / "[red]notes[codex].txt"
    file.write_text("x")
    sent = shell.json("send", BRACKETS, BRACKETS, "--attach", str(file))["event"]
    assert BRACKETS in shell.run("group", "list")
    assert shell.run("group", "show", BRACKETS).count(BRACKETS) >= 3
    assert BRACKETS in shell.run("actor", "list", BRACKETS)
    tail = shell.run("tail", BRACKETS, "--no-follow")
    assert BRACKETS in tail
    assert "[red]notes[codex].txt" in tail
    assert BRACKETS in shell.run("inbox", BRACKETS, "--for", "ada")
    assert BRACKETS in shell.run("search", BRACKETS, "tacit")
    shell.run("edit", BRACKETS, sent["id"], "[dim]other[/dim] words")
    assert "[dim]other[/dim] words" in shell.run("tail", BRACKETS, "--no-follow")
    shell.run("preview", BRACKETS, "@ada [bold]now[/bold]")


def test_tail_shows_an_edit_and_a_deletion(shell: Shell):
    shell.start()
    shell.run("group", "new", "Room")
    sent = shell.json("send", "Room", "the port is 80")["event"]
    shell.run("edit", "Room", sent["id"], "the port is 443")
    lines = shell.run("tail", "Room", "--no-follow").splitlines()
    assert lines[-2].endswith("user  the port is 80")
    assert lines[-1].endswith(f"user edited {sent['id'][-8:]}  the port is 443")
    shell.run("delete", "Room", sent["id"])
    assert "took back" in shell.run("tail", "Room", "--no-follow").splitlines()[-1]


def test_a_person_is_invited_listed_and_shut_out(shell: Shell):
    shell.start()
    shell.run("group", "new", "Room")
    assert "Nobody is invited yet." in shell.run("invite", "Room", "--list")
    said = shell.run("invite", "Room", "ben", "--title", "Ben [the] Builder")
    url, code = re.search(r"(http\S+)/#sign-in=(\S+)", said).groups()
    token = signed_in(url, code)["token"]
    again = shell.json("invite", "Room", "ben")
    assert again["principal"] == "usr:ben"
    assert "usr:ben  Ben [the] Builder  2 live tokens and links" in shell.run("invite", "Room", "--list")
    shell.run("--token", token, "send", "Room", "I am in")
    assert "usr:ben  I am in" in shell.run("tail", "Room", "--no-follow")
    assert "2 tokens and links of usr:ben revoked" in shell.run("invite", "Room", "ben", "--revoke")
    assert "refused" in shell.run("--token", token, "send", "Room", "still?", code=1)
    assert shell.json("invite", "Room", "--list")[0]["links"] == 0
    assert "nobody of this name" in shell.run("invite", "Room", "zoe", "--revoke", code=1)
    assert "say whom to invite" in shell.run("invite", "Room", code=2)


def test_plain_text_keeps_brackets_and_loses_what_drives_a_terminal():
    assert show.plain("[bold]\x1b[31m") == "[bold]⟨U+001B⟩[31m"
