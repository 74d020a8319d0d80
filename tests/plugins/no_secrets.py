"""No output names a secret: not a log, an error, a stream, a log file, nor the words of a program that is started.

Most secrets are known by how they look, also those that another process made. The others are noted where they are
made or first used, in `MAKERS`: a new kind of secret needs a line there, or better a beginning of its own. What a
test puts out is noted while it runs, and is searched when it has ended; a test that put out a secret fails.
Commands whose purpose is to show one stand in `SHOWN`, with why.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import inspect
import itertools
import logging
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

TOKEN: Final = "a token, or the code of an invitation, of a hub"
SIGN_IN: Final = "a sign-in link"
GUEST: Final = "a guest's link"
PAGE: Final = "a link to an agent's page"
ENROLMENT: Final = "an enrolment code, or an invitation, of a relay"
KINDS: Final[dict[str, str]] = {
    TOKEN: r"tct_[A-Za-z0-9_-]{43}",
    SIGN_IN: r"#sign-in=[A-Za-z0-9_-]{16,}",
    GUEST: r"/g/[a-z2-7]{26}#[A-Za-z0-9_-]{16,}",
    PAGE: r"/q/[A-Za-z0-9_-]{32}",
    "the token of a relay's numbers": r"rmt_[A-Za-z0-9_-]{32}",
    ENROLMENT: r"(?<![\w-])(?:[a-z2-7]{4}-){6}[a-z2-7]{2}(?![\w-])",
    "the seed of a NATS user": r"(?<!\w)SU[A-Z2-7]{56}(?!\w)",
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----",
    "a password in an address": r"[a-z]://[^\s/:@'\"]*:[^\s/@'\"*]+@[\w.\[-]",
}
"""What is known by its looks."""
WORDS: Final = "the words of a program"
_LOOKS: Final = re.compile("|".join(f"({pattern})" for pattern in KINDS.values()))
_WORD: Final = re.compile(r"[A-Za-z0-9_-]{12,}")
_PLAIN: Final = re.compile(r"-{0,2}[a-z]+(?:-[a-z]+)?")
_SHORTEST: Final = 12
"""Of a secret that is noted by its value: what is shorter may stand anywhere by chance."""
_LOG_NAMES: Final = re.compile(r"(?:.*\.)?(?:log|err|stderr)")
_NOT_OURS: Final = frozenset({".git", "node_modules", ".venv"})


class Shown(NamedTuple):
    """A command that may show secrets of a kind, why, and where: its output, or its own words."""

    words: str
    kind: str
    why: str
    where: str = "stdout"


SHOWN: Final[tuple[Shown, ...]] = (
    Shown("actor add", TOKEN, "it gives the new actor its token, for the only time"),
    Shown("actor token", TOKEN, "it gives an actor a further token, for the only time"),
    Shown("service add", TOKEN, "it gives the new service its token, for the only time"),
    Shown("crew invite", TOKEN, "it gives the code that lets an agent of another machine in, once"),
    Shown("invite", SIGN_IN, "it gives the link that is sent to the person"),
    Shown("link", SIGN_IN, "it gives the owner a link"),
    Shown("up", SIGN_IN, "on its first start it gives the owner a link"),
    Shown("agent page", PAGE, "it gives the owner a link to the page"),
    Shown("agent guest", GUEST, "it gives the link that the owner sends"),
    Shown("relay invite", ENROLMENT, "it gives the code that is sent to the person"),
    Shown(
        "mcp --print-config --with-token", TOKEN, "it writes the token into the text because it is told to"
    ),
    Shown("join --invite", TOKEN, "the code is spent before the agent begins, and opens nothing then", WORDS),
    Shown("--cli --method", TOKEN, "the Inspector of MCP is given a token in no other way", WORDS),
    Shown(
        "register --code", ENROLMENT, "the code is spent at once; without the option it is asked for", WORDS
    ),
)


class Leak(NamedTuple):
    """A secret in an output: what kind, where, and how it begins."""

    kind: str
    where: str
    begins: str


class Outputs:
    """What one test made of secrets, and what it put out."""

    def __init__(self) -> None:
        self.secrets: dict[str | bytes, str] = {}
        self.texts: dict[tuple[str, str], tuple[str, ...]] = {}
        """Each text with where it came from, and the words of the command where it came from one."""
        self.files: dict[Path, int] = {}
        """Logs of the programs that the tests of this module started, with how far each was read."""

    def note(self, kind: str, secret: object) -> None:
        """A secret was made or used."""
        if isinstance(secret, (str, bytes)) and len(secret) >= _SHORTEST:
            self.secrets[secret] = kind

    def put_out(self, where: str, text: object, words: Sequence[object] = ()) -> None:
        """Something was put out, by a command where `words` are given."""
        if isinstance(text, (bytes, bytearray)):
            text = bytes(text).decode("utf-8", "replace")
        if isinstance(text, str) and text:
            self.texts.setdefault((where, text), tuple(map(str, words)))

    def leaks(self) -> list[Leak]:
        """Every secret that was put out and may not be."""
        spelled = dict(_spellings(self.secrets)) if self.texts else {}
        strange = {secret: kind for secret, kind in spelled.items() if not _WORD.fullmatch(secret)}
        return [
            leak._replace(where=f"{where} of {_named(words)}") if words else leak
            for (where, text), words in list(self.texts.items())
            for leak in _leaks(where, text, spelled, strange)
            if not _may_show(words, where, leak.kind)
        ]


def _named(words: tuple[str, ...]) -> str:
    """A command's words without what it is given, which may be secret."""
    return " ".join(word for word in words if _PLAIN.fullmatch(word))


def _spellings(secrets: dict[str | bytes, str]) -> Iterator[tuple[str, str]]:
    """How a secret may stand in a text."""
    # A thread that a test left running may make another meanwhile.
    for secret, kind in list(secrets.items()):
        if isinstance(secret, str):
            yield secret, kind
        else:
            yield secret.hex(), kind
            yield base64.urlsafe_b64encode(secret).decode().rstrip("="), kind
            yield repr(secret)[2:-1], kind


def _leaks(where: str, text: str, spelled: dict[str, str], strange: dict[str, str]) -> Iterator[Leak]:
    for match in _LOOKS.finditer(text):
        kind = next(itertools.compress(KINDS, match.groups()))
        yield Leak(kind, where, match.group()[:16])
    if spelled:
        for word in set(_WORD.findall(text)) & spelled.keys():
            yield Leak(spelled[word], where, word[:8])
        for secret, kind in strange.items():
            if secret in text:
                yield Leak(kind, where, secret[:8])


def _may_show(words: tuple[str, ...], where: str, kind: str) -> bool:
    return any(
        (shown.kind, shown.where) == (kind, where) and set(shown.words.split()) <= set(words)
        for shown in SHOWN
    )


NOW: Final = Outputs()
"""Of the test that runs; emptied when the next begins."""


# -- what is watched


class Maker(NamedTuple):
    """Where secrets of a kind are made or first used, and which they are, of a call's arguments and result."""

    kind: str
    place: str
    secrets: Callable[[dict[str, Any], Any], Iterable[object]]


MAKERS: Final = (
    Maker(SIGN_IN, "tacit.hub.people.sign_in_links:SignInLinks.make", lambda _given, made: [made]),
    Maker(
        "a session of an agent's page",
        "tacit.agent.shell.io.sign_in:SignIn._draw",
        lambda _given, made: [made],
    ),
    Maker(
        "a session of a relay's page",
        "tacit.relay.io.account_sessions:AccountSessions.begin",
        lambda _given, made: [cookie.value for cookie in made.cookies.values()],
    ),
    Maker(
        "a sign-in of a relay's page",
        "tacit.relay.io.accounts_http:Accounts._token",
        lambda _given, made: [made],
    ),
    Maker(
        "the secret of a webhook",
        "tacit.hub.host.hooks:HookWire.__init__",
        lambda given, _: [given["secret"]],
    ),
    Maker(
        "the key of a driver's tools",
        "tacit.harness.io.tool_door:ToolDoor.program",
        lambda _given, made: made.environment.values(),
    ),
    Maker(
        "a model's key",
        "tacit.harness.drivers.options:DriverOptions.__init__",
        lambda given, _: [given["key"]],
    ),
    Maker(
        "a model's key",
        "tacit.harness.io.agent_config:AgentConfig.__init__",
        lambda given, _: given["secrets"],
    ),
    Maker("a passphrase", "tacit.seal.primitives:password_key", lambda given, _: [given["password"]]),
    Maker("a passphrase", "tacit.hub.config:BackupPlan.__init__", lambda given, _: [given["passphrase"]]),
    Maker("a private key", "tacit.seal.primitives:signing_public", lambda given, _: [given["seed"]]),
    Maker("a private key", "tacit.seal.primitives:agreement_public", lambda given, _: [given["private"]]),
    Maker(
        "a password at NATS",
        "tacit.base.nats_access:NatsLogin.__init__",
        lambda given, _: [given["password"]],
    ),
    Maker(GUEST, "tacit.seal.guest_seal:proof", lambda given, _: [given["secret"]]),
)


def watch_makers(makers: Iterable[Maker]) -> list[Maker]:
    """Note from now on what these make; gives back those whose module nobody has imported yet."""
    later = []
    for maker in makers:
        module, _, path = maker.place.partition(":")
        if module not in sys.modules:
            later.append(maker)
            continue
        holder: Any = sys.modules[module]
        *above, name = path.split(".")
        for part in above:
            holder = getattr(holder, part)
        setattr(holder, name, _noting(getattr(holder, name), maker))
    return later


def _noting(make: Callable[..., Any], maker: Maker) -> Callable[..., Any]:
    shape = inspect.signature(make)

    @functools.wraps(make)
    def noting(*arguments: Any, **named: Any) -> Any:
        made = make(*arguments, **named)
        given = shape.bind(*arguments, **named)
        given.apply_defaults()
        for secret in maker.secrets(given.arguments, made):
            NOW.note(maker.kind, secret)
        return made

    return noting


class _Records(logging.Handler):
    """Each record as the log of a hub has it."""

    def __init__(self) -> None:
        from tacit.hub.telemetry.logs import JsonLines

        super().__init__()
        self.formatter: logging.Formatter = JsonLines()

    def emit(self, record: logging.LogRecord) -> None:
        NOW.put_out("a log", self.formatter.format(record))


def _watch_errors() -> None:
    """What errors say; they reach people by every door."""
    from tacit.base.errors import Refused, TacitError

    begin = Refused.__init__

    def plainly(self: TacitError, *words: object) -> None:
        Exception.__init__(self, *words)
        NOW.put_out("an error", " ".join(map(str, words)))

    @functools.wraps(begin)
    def refused(self: Refused, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        if self.details:
            NOW.put_out("the details of an error", repr(self.details))

    TacitError.__init__ = plainly  # type: ignore[method-assign]
    Refused.__init__ = refused  # type: ignore[method-assign]


def _watch_answers() -> None:
    """What every HTTP door of this process answers to what it refuses."""
    from aiohttp import web

    begin = web.Response.__init__

    @functools.wraps(begin)
    def answered(self: web.Response, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        if self.status >= 400 and isinstance(self.body, bytes):
            NOW.put_out("an HTTP door's refusal", self.body)

    web.Response.__init__ = answered  # type: ignore[method-assign]


def _watch_programs() -> None:
    """The words that programs are started with, which `ps` shows to everybody, and what they put out."""
    begin, talk = subprocess.Popen.__init__, subprocess.Popen.communicate
    talk_later = asyncio.subprocess.Process.communicate

    @functools.wraps(begin)
    def started(self: subprocess.Popen[Any], args: Any, *more: Any, **named: Any) -> None:
        given = _typed(args)
        NOW.put_out(WORDS, " ".join(given), given)
        begin(self, args, *more, **named)

    @functools.wraps(talk)
    def talked(self: subprocess.Popen[Any], *arguments: Any, **named: Any) -> Any:
        out, err = talk(self, *arguments, **named)
        NOW.put_out("stdout", out, _typed(self.args))
        NOW.put_out("stderr", err)
        return out, err

    @functools.wraps(talk_later)
    async def talked_later(self: asyncio.subprocess.Process, *arguments: Any, **named: Any) -> Any:
        out, err = await talk_later(self, *arguments, **named)
        NOW.put_out("stderr", err)
        return out, err

    subprocess.Popen.__init__ = started  # type: ignore[method-assign]
    subprocess.Popen.communicate = talked  # type: ignore[method-assign]
    asyncio.subprocess.Process.communicate = talked_later  # type: ignore[method-assign]


def _typed(args: Any) -> list[str]:
    """The words of a command; what a shell is given as one word is taken apart as it would do."""
    words = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
    given = [os.fsdecode(word) for word in words]
    if given[:2] == ["sh", "-c"]:
        return [*given[:2], *shlex.split(given[2])]
    return given


def _watch_captured() -> None:
    """What a test reads of its own streams, which pytest does not show again."""
    read = pytest.CaptureFixture.readouterr

    @functools.wraps(read)
    def reading(self: pytest.CaptureFixture[Any]) -> Any:
        captured = read(self)
        NOW.put_out("a stream that was captured", captured.out)
        NOW.put_out("a stream that was captured", captured.err)
        return captured

    pytest.CaptureFixture.readouterr = reading  # type: ignore[method-assign]


def put_out_logs(folder: Path) -> None:
    """Whatever lies under a folder and is called a log."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for name in names:
            if _LOG_NAMES.fullmatch(name):
                put_out_file(Path(place, name))


def put_out_file(path: Path, start: int = 0) -> int:
    """What stands in a log from there on; gives back where it ends now."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            NOW.put_out(f"the file {path.name}", file.read())
            return file.tell()
    except OSError:
        return start  # it is a folder, or went with what wrote it


class Watch:
    """Fails each test that puts out a secret; `-p no:no_secrets` leaves it out."""

    def __init__(self) -> None:
        self._later: list[Maker] = list(MAKERS)
        self._module = Path()

    def pytest_configure(self) -> None:
        """Watch from now on."""
        _watch_errors()
        _watch_answers()
        _watch_programs()
        _watch_captured()
        logging.getLogger().addHandler(_Records())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin anew."""
        if item.path != self._module:
            self._module = item.path
            NOW.files.clear()
        NOW.secrets.clear()
        NOW.texts.clear()
        if self._later:
            self._later = watch_makers(self._later)
        logging.getLogger("tacit").setLevel(logging.DEBUG)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Search when the test has ended, whatever ended it."""
        report = yield
        if call.when == "teardown":
            folder = getattr(item, "funcargs", {}).get("tmp_path")
            if isinstance(folder, Path):
                put_out_logs(folder)
            for path, end in list(NOW.files.items()):
                NOW.files[path] = put_out_file(path, end)
            for name, text in report.sections:
                if not name.startswith("Captured log"):
                    NOW.put_out(name, text)
            if report.passed and (leaks := NOW.leaks()):
                report.outcome = "failed"
                report.longrepr = "\n".join(
                    f"{where} names {kind} ({begins}...)" for kind, where, begins in dict.fromkeys(leaks)
                )
        return report
