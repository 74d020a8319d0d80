"""The search for secrets in what tests put out: it knows each kind, looks at each output, and fails who leaks."""

from __future__ import annotations

import base64
import functools
import importlib
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tacit.agent.shell.io.sign_in import SignIn
from tacit.base.io.system import SystemEntropy
from tacit.hub.people.credentials import new_token
from tacit.hub.people.sign_in_links import MARK, SignInLinks
from tacit.relay.accounts import CODE_BYTES, code_text
from tacit.relay.io.metrics_token import kept_token
from tacit.wire.encoding import b64
from tests.plugins import no_secrets
from tests.plugins.no_secrets import KINDS, MAKERS, NOW, SHOWN, Maker, Outputs, Shown, watch_makers
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DRAW = SystemEntropy()


def kinds_in(text: str) -> list[str]:
    outputs = Outputs()
    outputs.put_out("a log", text)
    return [leak.kind for leak in outputs.leaks()]


def made(kind: str, folder: Path) -> str:
    """A secret of a kind as the product makes and writes it."""
    match kind:
        case no_secrets.TOKEN:
            return new_token(DRAW)
        case no_secrets.SIGN_IN:
            code = SignInLinks(DRAW).make("user", None, maker="", until=1.0)
            return f"http://127.0.0.1:7433{MARK}{code}"
        case no_secrets.GUEST:
            name = base64.b32encode(DRAW.draw(17)).decode().lower()[:26]
            return f"https://relay.example/g/{name}#{b64(DRAW.draw(32))}"
        case no_secrets.PAGE:
            return f"http://127.0.0.1:7434/q/{SignIn(DRAW).link(0)}"  # type: ignore[arg-type]
        case "the token of a relay's numbers":
            return kept_token(folder, DRAW)
        case no_secrets.ENROLMENT:
            return code_text(DRAW.draw(CODE_BYTES))
        case "the seed of a NATS user":
            return "SU" + "A" * 56
        case "a private key":
            return "-----BEGIN PRIVATE KEY-----"
        case "a password in an address":
            return "nats://hub:swordfish@127.0.0.1:4222"
        case _:
            raise AssertionError(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_known_by_its_looks_wherever_it_stands(kind: str, tmp_path: Path) -> None:
    secret = made(kind, tmp_path)
    for text in (secret, f'{{"what": "{secret}"}}', f"refused: {secret}, and more", f"x={secret}\n"):
        assert kind in kinds_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "tok_0123456789ab was revoked",
        "https://docs.example.org/a@b and mail to bob@example.org",
        "nats://127.0.0.1:4222, tls://hub.example:4222",
        "spc_abcdefgh thr_abcdefghijklmnopqrstuvwxyz",
        "the hub at http://127.0.0.1:7433/#room is ready",
        "at 2026-01-01T10:00:00Z in g_0123456789abcdef01234567",
    ],
)
def test_what_is_no_secret_is_let_through(text: str) -> None:
    assert kinds_in(text) == []


@pytest.mark.parametrize("spelled", [bytes.hex, b64, repr], ids=["hex", "base64", "repr"])
def test_a_private_key_is_known_however_it_is_spelled(spelled: Any) -> None:
    outputs, key = Outputs(), DRAW.draw(32)
    outputs.note("a private key", key)
    outputs.put_out("an error", f"cannot use {spelled(key)} here")
    assert [(leak.kind, leak.where) for leak in outputs.leaks()] == [("a private key", "an error")]


def test_a_passphrase_of_several_words_is_known() -> None:
    outputs = Outputs()
    outputs.note("a passphrase", b"correct horse battery")
    outputs.put_out("stderr", "wrong passphrase: correct horse battery")
    assert [leak.kind for leak in outputs.leaks()] == ["a passphrase"]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.words)
def test_a_command_that_is_there_to_show_a_secret_may_show_that_kind_in_that_place_alone(
    shown: Shown,
) -> None:
    for where, kind, words, leaks in (
        (shown.where, shown.kind, shown.words, False),
        ("stderr", shown.kind, shown.words, True),
        (shown.where, shown.kind, "status", True),
        (shown.where, "a private key", shown.words, True),
    ):
        outputs = Outputs()
        outputs.note(kind, "secret-of-that-kind")
        outputs.put_out(where, "here it is: secret-of-that-kind", words.split())
        assert bool(outputs.leaks()) is leaks, (where, kind, words)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.place)
def test_each_maker_of_secrets_is_where_the_table_says(maker: Maker) -> None:
    module, _, path = maker.place.partition(":")
    assert callable(functools.reduce(getattr, path.split("."), importlib.import_module(module)))


def test_what_a_maker_makes_is_noted() -> None:
    for secret in (SignInLinks(DRAW).make("user", None, maker="", until=1.0), SignIn(DRAW).link(0)):  # type: ignore[arg-type]
        assert secret in NOW.secrets
    assert watch_makers([Maker("of nobody", "tacit.no_such_module:make", lambda _given, _made: [])])


def test_of_the_log_of_a_program_only_what_is_new_is_read(tmp_path: Path) -> None:
    log = tmp_path / "hub.txt"
    log.write_text("what the test before saw\n")
    end = no_secrets.put_out_file(log)
    NOW.texts.clear()
    with log.open("a") as file:
        file.write("what is new\n")
    assert no_secrets.put_out_file(log, end) > end
    assert [text for _where, text in NOW.texts] == ["what is new\n"]
    assert no_secrets.put_out_file(tmp_path / "gone.log", 7) == 7


LEAKING = """
import asyncio, logging, subprocess, sys
import pytest
from aiohttp import web
from tacit.base.errors import Refused, Unavailable

TOKEN = "tct_" + "a" * 43

def test_tells_nothing(capsys):
    logging.getLogger("tacit.hub").debug("well")
    print("well")

def test_logs():
    logging.getLogger("tacit.hub").debug("signed in with %s", TOKEN)

def test_logs_beside_its_words():
    logging.getLogger("tacit.hub").info("signed in", extra={"with": TOKEN})

def test_prints():
    print(TOKEN)

def test_prints_and_reads_it(capsys):
    print(TOKEN, file=sys.stderr)
    capsys.readouterr()

def test_refuses():
    Refused("denied", f"{TOKEN} is no token")

def test_refuses_in_details():
    Refused("denied", "no token", details={"given": TOKEN})

def test_is_away():
    Unavailable(f"{TOKEN} is away")

def test_answers():
    web.Response(status=401, text=TOKEN)

def test_starts():
    subprocess.run([sys.executable, "-c", "", TOKEN], check=True)

def test_starts_later():
    async def start():
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "", TOKEN)
        await process.wait()
    asyncio.run(start())

def test_child():
    code = "import sys; sys.stderr.write('tct_' + 'a' * 43)"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

def test_child_later():
    async def start():
        code = "import sys; sys.stderr.write('tct_' + 'a' * 43)"
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stderr=subprocess.PIPE)
        await process.communicate()
    asyncio.run(start())

def test_file_of_a_program(tmp_path_factory):
    from tests.plugins.no_secrets import NOW
    log = tmp_path_factory.mktemp("beside") / "out"
    NOW.files[log] = 0
    log.write_text(TOKEN)

def test_file(tmp_path):
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "agent.log").write_text(TOKEN)
"""


def test_every_test_that_puts_out_a_secret_fails_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.plugins import no_secrets\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(no_secrets.Watch(), 'no_secrets')\n"
    )
    (tmp_path / "test_leaking.py").write_text(LEAKING)
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--show-capture=no",
        "--rootdir",
        tmp_path,
        "-o",
        "addopts=",
    ]
    done = subprocess.run(
        [*words, "-c", os.devnull, "-rE", "-p", "no:cacheprovider", tmp_path],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    tests = set(re.findall(r"def (test_\w+)", LEAKING))
    failed = set(re.findall(r"ERROR test_leaking\.py::(\w+)", done.stdout))
    assert tests - failed == {"test_tells_nothing"}, done.stdout
