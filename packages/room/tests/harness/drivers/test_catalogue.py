"""The drivers by name."""

import subprocess
import sys
from typing import get_args

import pytest

from tacit.base.errors import Refused
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.options import Access, DriverOptions
from tacit.harness.drivers.port import FailureCode
from tests.harness.drivers.rigs import RIGS
from tools.places import ROOT


def parse(name, *words, **environment):
    return catalogue.parse(name, words, state="/s", environment=environment)


def test_every_driver_is_listed_with_what_a_person_needs_to_know():
    assert [entry.name for entry in catalogue.CATALOGUE] == [rig.name for rig in RIGS]
    for entry in catalogue.CATALOGUE:
        assert entry.description
        assert entry.installed
        assert set(entry.takes) <= set(catalogue.FLAGS)
        assert bool(entry.extra) == bool(entry.modules)
        assert entry.extra in entry.install


def test_options_are_read_from_a_command_line():
    options = parse(
        "codex", "--model", "m", "--access=write", "--cwd", "/d", "--retries", "0", OPENAI_API_KEY="k"
    )
    assert options == DriverOptions(
        "/s", model="m", key="k", access=Access.WRITE, directory="/d", model_retries=0
    )
    assert parse("acp", "--use-my-config", "--", "gemini", "--acp").command == ("gemini", "--acp")
    assert parse("command", "--text", "./me", "-x").command == ("./me", "-x")
    assert parse("openai", "--key-env", "MY", "--model=m", MY="mine", OPENAI_API_KEY="k").key == "mine"
    assert "k" not in repr(parse("codex", OPENAI_API_KEY="hush"))[4:40]
    assert "hush" not in repr(parse("codex", OPENAI_API_KEY="hush"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("command", ("--model", "m")),
        ("codex", ("--model",)),
        ("codex", ("--access", "everything")),
        ("codex", ("--retries", "-1")),
        ("openai", ("--model", "m", "--", "program")),
        ("nobody", ()),
    ],
)
def test_what_a_driver_does_not_take_is_refused(name, words):
    with pytest.raises(Refused):
        parse(name, *words)


@pytest.mark.parametrize(("name", "key"), [("codex", "OPENAI_API_KEY"), ("claude", "ANTHROPIC_API_KEY")])
def test_an_agent_without_an_account_is_refused_before_it_is_asked_anything(name, key):
    with pytest.raises(Refused, match=f"has no account: set {key}, or give --use-my-config"):
        parse(name, "--cwd", ".")
    assert parse(name, "--use-my-config").use_my_config
    assert parse(name, "--base-url", "http://127.0.0.1:1/v1").base_url
    assert parse(name, **{key: "k"}).key == "k"


@pytest.mark.parametrize("name", ["acp", "command", "openai"])
def test_a_driver_without_what_it_needs_is_refused_when_built(name):
    with pytest.raises(Refused):
        catalogue.build(name, DriverOptions("/s"))


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(catalogue, "find_spec", lambda module: None)
    with pytest.raises(Refused, match=r"pip install .*\[claude\]'"):
        catalogue.build("claude", DriverOptions("/s"))


def test_listing_the_drivers_imports_none_of_them():
    code = (
        "import sys; from tacit.harness.drivers import catalogue;"
        "[entry.installed for entry in catalogue.CATALOGUE];"
        "print(sorted({'claude_agent_sdk', 'codex_cli_bin', 'acp', 'mcp', 'aiohttp', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_documents_tell_of_every_driver_option_and_failure():
    page = (ROOT / "docs" / "drivers.md").read_text(encoding="utf-8")
    for entry in catalogue.CATALOGUE:
        assert f"| `{entry.name}` |" in page
        assert f"the extra `{entry.extra}`" in page or not entry.extra
    for flag in catalogue.FLAGS:
        assert f"| `{flag}" in page
    for code in get_args(FailureCode):
        assert f"`{code}`" in page or code == "cancelled"
