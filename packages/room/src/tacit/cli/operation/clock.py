"""`tacit clock`: is this machine's clock believed?"""

from __future__ import annotations

import click

from tacit.base.commands.clock import TRUST, clock_of, show_clock
from tacit.cli.session import CliSession, pass_session


@click.command()
@TRUST
@pass_session
def clock(session: CliSession, *, trust: bool) -> None:
    """Show whether this machine's clock is believed, and say that it is right.

    A clock that leapt by more than a day erases nothing and ends nothing. It is believed again when it comes
    back, when the hub has run for a day with it, or when you say so.
    """
    show_clock(clock_of(session.data), trust=trust, as_json=session.as_json)
