"""`tacit clowl`: check, read aloud, trace and teach the language agents write in.

Rows: CLOWL-067, CLOWL-069, CLOWL-075, CLOWL-079. A thin shell over `tacit.language`: it opens files, prints
and chooses the exit code, and decides nothing. Exit codes: 0 all is well, 1 a message was refused, 2 wrong
usage, 3 something is missing on this machine.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from tacit.base.commands.output_place import OutputPlace
from tacit.base.commands.terminal import Terminal
from tacit.base.install_hint import install_hint
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tacit.language.english import english_of, safe
from tacit.language.io.logs import pieces
from tacit.language.prompt import prompt as prompt_text
from tacit.language.reading import parse_lines, read
from tacit.language.repair import read_repaired
from tacit.language.schema import schema as schema_value
from tacit.language.spans import otlp
from tacit.language.trace import reconstruct
from tacit.language.trace_data import chronicle_value
from tacit.language.trace_html import page
from tacit.language.trace_text import chronicle_lines, mermaid, timeline, trees

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from tacit.language.findings import Finding, Reading
    from tacit.language.io.logs import LogLines, LogSource
    from tacit.language.message import Message
    from tacit.language.trace import Chronicle

REFUSED: Final = 1
UNAVAILABLE: Final = 3
_LONG: Final = 8 * 1024 * 1024

_files = click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
_mode = click.option(
    "--mode",
    type=click.Choice(["lenient", "strict"]),
    default="lenient",
    show_default=True,
    help="lenient: as received; strict: as it may be sent.",
)
_repair = click.option(
    "--repair", is_flag=True, help="Mend what models write: fences, prose, quotes, commas."
)


@click.group()
def clowl() -> None:
    """Check, read and trace CLowl messages.

    FILES hold JSON Lines, one JSON message, or an array of them; - is standard input, and the default.
    """


@clowl.command()
@_files
@_mode
@_repair
@click.option("--warnings", is_flag=True, help="Also say what is odd but allowed.")
@_json
def validate(files: tuple[str, ...], mode: str, *, repair: bool, warnings: bool, as_json: bool) -> None:
    """Check every message; exit 0 only if all are valid.

    Each fault comes with its place in the file, a JSON path, the error code to answer with and the reason.
    """
    strict = mode == "strict"
    total = invalid = 0
    for file, stream in _streams(files):
        for piece in pieces(stream):
            quick = (
                None if repair or warnings or piece.is_document else parse_lines(piece.data, strict=strict)
            )
            if quick is not None:
                total += len(quick)
                _report_valid(file, piece, as_json=as_json)
                continue
            for line, data in piece.lines():
                reading = _read(data, strict=strict, repair=repair)
                total += 1
                invalid += reading.message is None
                _report(file, line, reading, as_json=as_json, warnings=warnings)
    if not as_json:
        said = "all valid" if not invalid else f"{invalid:,} invalid"
        click.echo(f"{total:,} message{'' if total == 1 else 's'}, {said}" if total else "no messages")
    if invalid:
        raise SystemExit(REFUSED)


@clowl.command()
@_files
@_repair
@click.option("-v", "--verbose", is_flag=True, help="Add ids and times.")
@_json
def english(files: tuple[str, ...], *, repair: bool, verbose: bool, as_json: bool) -> None:
    """Read every message aloud, one line each."""
    invalid = 0
    for file, line, reading in _readings(files, repair=repair):
        invalid += reading.message is None
        text = english_of(reading, verbose=verbose)
        if as_json:
            _print_json({"file": file, "line": line, "valid": reading.message is not None, "english": text})
        else:
            click.echo(text)
    if invalid:
        raise SystemExit(REFUSED)


_FORMATS: Final[dict[str, Callable[[Chronicle], Iterator[str]]]] = {
    "tree": chronicle_lines,
    "timeline": lambda chronicle: timeline(chronicle.timeline),
    "mermaid": lambda chronicle: (line for tree, _ in trees(chronicle) for line in mermaid(tree)),
    "html": lambda chronicle: iter((page(chronicle),)),
    "otlp": lambda chronicle: iter((json.dumps(otlp(chronicle.traces.values())),)),
    "json": lambda chronicle: iter((json.dumps(chronicle_value(chronicle), ensure_ascii=False),)),
}


@clowl.command()
@_files
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="tree", show_default=True)
@click.option("--tid", help="Only this trace.")
@click.option("--cid", help="Only this conversation.")
@click.option("-o", "--out", type=OutputPlace(lambda: "trace.txt"), metavar="FILE|DIR/", help="Write there.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def trace(
    files: tuple[str, ...], form: str, tid: str | None, cid: str | None, out: Path | None, *, as_json: bool
) -> None:
    """Rebuild conversations and traces from messages in any order.

    Shows who asked whom for what, what came of it, what is still owed and what was out of place.
    """
    messages: list[Message] = []
    invalid = 0
    for file, line, reading in _readings(files, repair=False):
        if reading.message is None:
            invalid += 1
            click.echo(f"{file}:{line}: {english_of(reading)}", err=True)
        elif tid in {None, reading.message.trace} and cid in {None, reading.message.cid}:
            messages.append(reading.message)
    lines = _FORMATS["json" if as_json else form](reconstruct(messages))
    with click.open_file(out or "-", "w", encoding="utf-8") as target:
        for text in lines:
            target.write(text.rstrip("\n") + "\n")
    if invalid:
        raise SystemExit(REFUSED)


@clowl.command()
@click.option("--form", type=click.Choice(["semantic", "full"]), default="semantic", show_default=True)
@click.option("--tokens", is_flag=True, help="Count its tokens (needs the extra `tokens`).")
@_json
def prompt(form: str, *, tokens: bool, as_json: bool) -> None:
    """Print the system prompt that teaches a model CLowl.

    semantic: the model writes meaning and the runtime adds ids, times and traces; full: whole messages.
    """
    text = prompt_text("full" if form == "full" else "semantic")
    count = _tokens(text) if tokens else None
    if as_json:
        _print_json({"form": form, "prompt": text, **({"tokens": count} if tokens else {})})
        return
    click.echo(text)
    if count is not None:
        click.echo(f"{count} tokens (o200k_base)", err=True)


@clowl.command()
@_mode
@click.option("--json", "as_json", is_flag=True, help="It is JSON anyway.")
def schema(mode: str, *, as_json: bool) -> None:
    """Print the JSON Schema (2020-12) of a message."""
    indent = None if as_json else 2
    click.echo(json.dumps(schema_value(strict=mode == "strict"), indent=indent))


def _tokens(text: str) -> int:
    try:
        import bpe_openai
    except ImportError:
        click.echo(
            f"Counting tokens needs a library; add it with: {install_hint('clowl', 'tokens')}", err=True
        )
        raise SystemExit(UNAVAILABLE) from None
    return len(bpe_openai.get_encoding("o200k_base").encode(text))


def _readings(files: tuple[str, ...], *, repair: bool) -> Iterator[tuple[str, int, Reading]]:
    for file, stream in _streams(files):
        for piece in pieces(stream):
            for line, data in piece.lines():
                yield file, line, _read(data, strict=False, repair=repair)


def _read(data: bytes, *, strict: bool, repair: bool) -> Reading:
    now = TimeService().now() // SECOND
    return read_repaired(data, strict=strict, now=now) if repair else read(data, strict=strict, now=now)


def _streams(files: tuple[str, ...]) -> Iterator[tuple[str, LogSource]]:
    for file in files or ("-",):
        try:
            with click.open_file(file, "rb") as stream, _progress(file, stream) as shown:
                yield file, shown
        except OSError as error:
            click.echo(f"{file}: {error.strerror}", err=True)
            raise SystemExit(UNAVAILABLE) from error


@contextmanager
def _progress(file: str, stream: Any) -> Generator[LogSource]:
    """How much of a long file is read, on standard error at a terminal."""
    size = _size(stream)
    if size < _LONG or not Terminal(is_error=True).is_watched:
        yield stream
        return
    name = safe(Path(file).name)
    with closing(_Counted(stream, size, name)) as counted:
        yield counted


def _size(stream: Any) -> int:
    try:
        start = stream.tell()
        end = stream.seek(0, 2)
        stream.seek(start)
    except (OSError, ValueError):
        return 0
    return int(end) - int(start)


class _Counted:
    """A stream that says at the terminal how much of it was read; what is printed next covers the line."""

    def __init__(self, stream: LogSource, size: int, name: str) -> None:
        self._stream = stream
        self._size = size
        self._name = name
        self._read = 0
        self._shown = ""

    def read(self, size: int, /) -> bytes:
        """As the stream itself."""
        data = self._stream.read(size)
        self._read += len(data)
        self._show(f"{self._name}: {100 * self._read // self._size} %")
        return data

    def close(self) -> None:
        """Leave an empty line behind."""
        self._show(" " * len(self._shown))

    def _show(self, words: str) -> None:
        if words != self._shown:
            click.echo(f"{words}\r", nl=False, err=True)
            self._shown = words


def _report(file: str, line: int, reading: Reading, *, as_json: bool, warnings: bool) -> None:
    if as_json:
        found: dict[str, Any] = {"file": file, "line": line, "valid": reading.message is not None}
        if reading.faults:
            found |= {"code": reading.code, "faults": msgspec.to_builtins(reading.faults)}
        if reading.warnings and warnings:
            found["warnings"] = msgspec.to_builtins(reading.warnings)
        _print_json(found)
        return
    for fault in reading.faults:
        click.echo(f"{safe(file)}:{line}: {_finding(fault)}")
    for warning in reading.warnings if warnings else ():
        click.echo(f"{safe(file)}:{line}: warning: {_finding(warning)}")


def _report_valid(file: str, piece: LogLines, *, as_json: bool) -> None:
    for line, _ in piece.lines() if as_json else ():
        _print_json({"file": file, "line": line, "valid": True})


def _finding(finding: Finding) -> str:
    code = f"{finding.code} " if finding.code else ""
    return f"{code}{safe(finding.path)} {safe(finding.reason)} ({finding.row})"


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
