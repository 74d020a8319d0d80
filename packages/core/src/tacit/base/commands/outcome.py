"""How a command ends.

One exit code for each kind of error, JSON when asked (0 ok, 1 refused, 2 usage, 3 unavailable).
"""

from __future__ import annotations

import errno
import functools
import json
import sys
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

import click
import msgspec

from tacit.base.commands.terminal import Terminal
from tacit.base.errors import Corrupt, PeerFault, Refused, Unavailable, WrittenByNewer

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

REFUSED: Final = 1
UNAVAILABLE: Final = 3


OF_THE_DISK: Final = {
    errno.ENOSPC: "the disk is full: make room, then try again; nothing acknowledged is lost",
    errno.EDQUOT: "this account's share of the disk is full: make room, then try again",
    errno.EROFS: "the disk is mounted read-only: mount it for writing, or choose another folder with --data",
    errno.EACCES: "this account may not write there: give it the folder (chown), or another with --data",
    errno.EPERM: "this account may not write there: give it the folder (chown), or another with --data",
    errno.EMFILE: "too many files are open: raise the limit (`ulimit -n 65536`, LimitNOFILE= of a service)",
    errno.ENFILE: "the machine has too many files open: stop what holds them, or raise fs.file-max",
    errno.EIO: "the disk does not answer: look at the machine's log (dmesg), and restore a backup elsewhere",
}
"""What the machine refuses, and the way out."""


def refused_by_machine(error: OSError) -> str:
    """One line for what the operating system would not do."""
    where = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return where + OF_THE_DISK.get(error.errno or 0, error.strerror or type(error).__name__)


def show(value: object, text: str, *, as_json: bool) -> None:
    """One result, for a program or for a person."""
    if as_json:
        click.echo(json.dumps(value, sort_keys=True, default=msgspec.to_builtins))
    else:
        Terminal().print(text)


def json_option(function: Callable[P, R]) -> Callable[P, R]:
    """`--json`, everywhere."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(
        function
    )


def reported(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the house's errors into a line on stderr and an exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Refused as refused:
            _fail(refused.code, refused.message, REFUSED, as_json=bool(kwargs.get("as_json")))
        except WrittenByNewer as newer:
            as_json = bool(kwargs.get("as_json"))
            _fail("written_by_newer", str(newer), UNAVAILABLE, as_json=as_json, names_code=False)
        except (Unavailable, PeerFault) as error:
            _fail("unavailable", str(error), UNAVAILABLE, as_json=bool(kwargs.get("as_json")))
        except OSError as error:
            _fail("unavailable", refused_by_machine(error), UNAVAILABLE, as_json=bool(kwargs.get("as_json")))
        except Corrupt as error:
            _fail("corrupt", str(error), UNAVAILABLE, as_json=bool(kwargs.get("as_json")))
        raise AssertionError

    return run


def _fail(code: str, message: str, status: int, *, as_json: bool, names_code: bool = True) -> None:
    if as_json:
        click.echo(json.dumps({"code": code, "message": message}, sort_keys=True))
    else:
        click.echo(f"{code}: {message}" if names_code else message, err=True)
    sys.exit(status)
