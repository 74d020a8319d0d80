"""`tacit up --service`, `tacit crew install`: the hub, and its crew with it, as a service of this account.

Writes one unit file, in the account's own folder, and asks systemd to start it now and with the machine.
Needs no root; for agents that run while nobody is signed in, the account has to linger, and what to type is
said.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.own_program import own_program
from tacit.cli import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.cli.session import CliSession

NAME: Final = "tacit.service"
UNIT: Final = """\
[Unit]
Description=Tacit hub, and the agents of its crew
After=network-online.target

[Service]
ExecStart={command}
Restart=always
RestartSec=2
KillMode=mixed
TimeoutStopSec=45
# Keys of models, one NAME=value a line; the crew names only the variables.
EnvironmentFile=-%h/.config/tacit/environment
Environment="PATH={path}"

[Install]
WantedBy=default.target
"""


def unit_text(words: Sequence[str], path: str) -> str:
    """The unit file for a command."""
    # In a command `$` begins a variable; in an assignment it is a letter like others.
    command = " ".join(f'"{_escaped(word).replace("$", "$$")}"' for word in words)
    return UNIT.format(command=command, path=_escaped(path))


def _escaped(word: str) -> str:
    """As systemd reads a quoted word: no specifier and no quote of ours is taken for its own."""
    if "\n" in word:
        raise Refused("invalid_request", "a service's command stands in one line")
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def unit_file() -> Path:
    """Where the account's units are."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "systemd" / "user" / NAME


def _words(data: Path, context: click.Context) -> list[str]:
    """`tacit up` as it was typed, less what concerns the service itself, its data folder named whole."""
    words = own_program("tacit", "--data", str(data), "up")
    for parameter in context.command.params:
        name = parameter.name or ""
        typed = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not typed or name in {"service", "data"} or name not in context.params:
            continue
        value = context.params[name]
        flag = parameter.opts[0]
        if isinstance(value, bool):
            words.append(flag if value else parameter.secondary_opts[0])
            continue
        several = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
        for one in several:
            words += [flag, str(one.absolute() if isinstance(one, Path) else one)]
    return words


def _systemctl(*words: str) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - one program, its arguments as a list
            ["systemctl", "--user", *words],  # noqa: S607 - the system's own
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except FileNotFoundError as error:
        raise Unavailable("this machine has no systemd") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise Unavailable(f"systemctl --user {words[0]}: {said[-1] if said else done.returncode}")


def _removed(session: CliSession, path: Path) -> bool:
    """Take the unit away, also where there is no systemd to be told; false when there was none."""
    if not path.exists():
        return False
    try:
        _systemctl("disable", "--now", NAME)
    except Unavailable as error:
        session.err.print(show.plain(f"{error}: what runs goes on until it is ended"))
        path.unlink()
        return True
    path.unlink()
    _systemctl("daemon-reload")
    return True


def handle(session: CliSession, what: str, data: Path, typed: click.Context) -> None:
    """Print, install or remove the service; `typed` is `tacit up` with its options."""
    text, path = unit_text(_words(data, typed), os.environ.get("PATH", os.defpath)), unit_file()
    if what == "print":
        session.answer({"path": str(path), "unit": text}, lambda: click.echo(text, nl=False))
        return
    if what == "remove":
        session.answer(
            {"removed": _removed(session, path)},
            lambda: session.out.print("the service is removed; its data stay"),
        )
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    try:
        _systemctl("daemon-reload")
        _systemctl("enable", "--now", NAME)
    except Unavailable as error:
        raise Unavailable(
            f"{error}. The unit is written to {path}, but nothing was started: where systemd does not run "
            "for this account, start `tacit up` by whatever starts programs there"
        ) from error

    def tell() -> None:
        session.out.print(show.plain(f"the hub runs as a service of this account ({path})"))
        session.out.print("look at it with `systemctl --user status tacit`, sign in with `tacit link`")
        session.out.print("so that it runs while you are signed out: `loginctl enable-linger`")

    session.answer({"path": str(path)}, tell)
