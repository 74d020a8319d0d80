"""How a command ends.

One exit code for each kind of error, JSON when asked (0 ok, 1 refused, 2 usage, 3 unavailable).
"""

from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import click

from tacit.base.errors import Corrupt, PeerFault, Refused, Unavailable
from tacit.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

REFUSED: Final = 1
UNAVAILABLE: Final = 3


def show(value: dict[str, Any], text: str, *, as_json: bool) -> None:
    """One result, for a program or for a person."""
    if as_json:
        click.echo(json.dumps(value, sort_keys=True))
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
        except (Unavailable, PeerFault) as error:
            _fail("unavailable", str(error), UNAVAILABLE, as_json=bool(kwargs.get("as_json")))
        except Corrupt as error:
            _fail("corrupt", str(error), UNAVAILABLE, as_json=bool(kwargs.get("as_json")))
        raise AssertionError

    return run


def _fail(code: str, message: str, status: int, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"code": code, "message": message}, sort_keys=True))
    else:
        click.echo(f"{code}: {message}", err=True)
    sys.exit(status)
