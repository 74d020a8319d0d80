"""`tacit doctor`: what is installed, running, reachable, and what to do about the rest."""

from __future__ import annotations

import platform
import shutil
import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import apsw
import click

from tacit.base.commands.folders import beside_hub
from tacit.base.commands.terminal import styled
from tacit.base.errors import Refused, TacitError
from tacit.base.io import agent_socket as socket
from tacit.base.io.sqlite import connect
from tacit.base.io.time_service import TimeService, kept_doubt
from tacit.base.moment import SECOND
from tacit.base.version import version
from tacit.cli.operation.doctor_stream import DoctorFinding, stream_findings
from tacit.cli.session import CliSession, pass_session
from tacit.cli.show import plain
from tacit.harness.drivers import catalogue
from tacit.hub import beside
from tacit.ledger.io import erasure
from tacit.ledger.io.store import DATABASE

if TYPE_CHECKING:
    from tacit.client.socket_hub import SocketHub

CLOCK_OFF = 60
"""Seconds between the hub's time and the machine's from which on somebody should look."""

ERASURE_SLOW = 60
"""Seconds after which content that was taken back should be gone from the disk."""


def _client(session: CliSession) -> SocketHub:
    return session.owner(retry_for=0.5)


def _hub(session: CliSession) -> DoctorFinding:
    try:
        with _client(session) as hub:
            return DoctorFinding(
                "hub", ok=True, found=f"{session.url}, version {hub.capabilities()['version']}"
            )
    except TacitError as error:
        return DoctorFinding(
            "hub", ok=False, found=str(error), advice="start it with `tacit up`, or give --url and --token"
        )


def _erasures(events: int, seconds: float) -> DoctorFinding:
    """What was taken back and may still lie on the disk; a moment of it is normal."""
    return DoctorFinding(
        "erasures",
        ok=not events or seconds < ERASURE_SLOW,
        found=f"{events} taken back and not yet gone from the disk, the oldest for {seconds:.0f} s"
        if events
        else "nothing that was taken back lies on the disk",
        advice="make room on the disk and end what else reads ledger.db (exports, copies, other programs); "
        "the hub goes on trying, and a start finishes it before anything else",
    )


def _stopped_erasures(session: CliSession) -> list[DoctorFinding]:
    """The same of a ledger whose hub cannot be asked; nothing when it cannot be read either."""
    if not (session.data / DATABASE).exists():
        return []
    try:
        with closing(connect(session.data / DATABASE, readonly=True)) as connection:
            waiting = erasure.pending(connection)
    except (TacitError, apsw.Error, ValueError):
        return []
    age = TimeService().now() - waiting.since if waiting.since is not None else 0
    return [_erasures(waiting.events, max(0, age) / SECOND)]


def status_findings(session: CliSession) -> list[DoctorFinding]:
    """Who is near a quota, what keeps the hub from being ready, what it has still to erase."""
    try:
        with _client(session) as hub:
            told = hub.call("status", {})
    except TacitError:
        return _stopped_erasures(session)
    ready = DoctorFinding("ready", bool(told["ready"]), "; ".join(told["why"]) or "takes what it is sent")
    near, refused = told["quotas"]["near"], told["quotas"]["refused"]
    named = ", ".join(
        f"{plain(str(one['principal'] or 'all'))} in {plain(str(one['group_id']))}: "
        f"{one['used']} of {one['limit']} {one['quota']}"
        for one in near[:5]
    )
    used = f"{told['quotas']['fullest']:.0%} of the fullest is used"
    more = f"; {refused} refused since the start" if refused else ""
    ahead, jumps, doubt = (told["clock"].get(name) for name in ("ahead_s", "jumps", "doubt"))
    return [
        ready,
        DoctorFinding(
            "clock",
            ok=abs(ahead) < CLOCK_OFF and not doubt,
            found=doubt or f"{ahead:+.0f} s from the machine's, which was set {jumps} times since the start",
            advice="set the machine's clock right; the hub draws nearer by itself, or takes it at a restart. "
            "If it is right, `tacit clock --trust` says so",
        ),
        DoctorFinding(
            "quotas",
            ok=not near,
            found=(named or used) + more,
            advice="remove or slow down who uses them up, or raise tacit.hub.bounds.quotas.QuotaLimits",
        ),
        _erasures(told["erasures"]["pending"], told["erasures"]["oldest_s"]),
        *stream_findings(told.get("stream")),
    ]


def _agent_beside(session: CliSession) -> list[DoctorFinding]:
    """How the personal agent is that the hub runs; nothing when it runs none, or none can be asked."""
    try:
        with _client(session) as hub:
            told = hub.call("agent_status", {})
    except TacitError:
        return []
    if not told["enabled"]:
        return []
    well = told["state"] in {"running", "elsewhere"}
    known = {"running": "runs beside the hub", "elsewhere": "runs in a process of its own; the hub uses it"}
    found = known.get(told["state"]) or str(told["reason"] or told["state"])
    advice = "" if well else f"the end of {session.data / 'agent.log'} says more"
    return [DoctorFinding("agent", well, found, advice)]


def _data(session: CliSession) -> DoctorFinding:
    path = session.data / DATABASE
    if not path.exists():
        return DoctorFinding("data", ok=False, found=f"{session.data} is empty", advice="`tacit up` makes it")
    free = shutil.disk_usage(session.data).free // 2**20
    size = path.stat().st_size // 2**20
    return DoctorFinding(
        "data",
        ok=free > 512,
        found=f"{session.data}, ledger {size} MiB, {free} MiB free",
        advice="" if free > 512 else "make room: the hub refuses writes when the disk is full",
    )


def _agent_keys() -> list[DoctorFinding]:
    """How the keys of the agent in its usual folder are kept; nothing when there is none."""
    try:
        path = beside.agent_in(beside_hub("agent"))
    except Refused:
        return []
    if path is None:
        return []
    try:
        method = beside.key_protection(path)
    except TacitError as error:
        return [DoctorFinding("agent keys", ok=False, found=str(error))]
    if method is not None:
        return [DoctorFinding("agent keys", ok=True, found=f"encrypted at rest ({method})")]
    return [
        DoctorFinding(
            "agent keys",
            ok=False,
            found=f"plain in {path.parent}: whoever reads the folder can speak as you",
            advice="`tacit agent protect --with passphrase`, or `--with keyring`",
        )
    ]


def _agent_clock() -> list[DoctorFinding]:
    """Whether the personal agent doubts the machine's clock; nothing when it does not."""
    doubt = kept_doubt(beside_hub("agent"))
    return (
        [DoctorFinding("agent clock", ok=False, found=doubt, advice="`tacit agent clock --trust`")]
        if doubt
        else []
    )


def _agent_calendars() -> list[DoctorFinding]:
    """Whether the running agent can read its owner's calendars; nothing when none is running."""
    try:
        found = socket.ask(beside_hub("agent"), "calendars", {})["calendars"]
    except (ConnectionError, TacitError):
        return []
    return [
        DoctorFinding(
            "calendar",
            ok=one["readable"],
            found=f"{one['name']}: " + ("; ".join(one["notices"]) or "can be read"),
            advice=""
            if one["readable"]
            else "your agent takes all of your time as busy until it can be read",
        )
        for one in found
    ]


def _tool(name: str, used_for: str) -> DoctorFinding:
    path = shutil.which(name)
    return DoctorFinding(name, ok=path is not None, found=path or f"not found (used for {used_for})")


def _driver(entry: catalogue.DriverEntry) -> DoctorFinding:
    found = entry.description if entry.installed else f"not installed ({entry.description})"
    return DoctorFinding(entry.name, ok=entry.installed, found=f"driver: {found}", advice=entry.install)


def findings(session: CliSession) -> list[DoctorFinding]:
    """Everything worth knowing."""
    python = platform.python_version()
    return [
        DoctorFinding("tacit", ok=True, found=version()),
        DoctorFinding(
            "python", ok=sys.version_info >= (3, 11), found=python, advice="Tacit needs 3.11 or newer"
        ),
        DoctorFinding("sqlite", ok=True, found=apsw.sqlite_lib_version()),
        _data(session),
        _hub(session),
        *status_findings(session),
        *_agent_beside(session),
        *_agent_keys(),
        *_agent_clock(),
        *_agent_calendars(),
        *(_driver(entry) for entry in catalogue.CATALOGUE),
        _tool("nats-server", "running on several machines"),
        _tool("chromium", "the browser tests"),
    ]


@click.command()
@pass_session
@click.pass_context
def doctor(context: click.Context, session: CliSession) -> None:
    """What is installed, running, reachable; what to do about it."""
    found = findings(session)

    def human() -> None:
        for one in found:
            mark = styled("✓", "green") if one.ok else styled("-", "yellow")
            session.out.print(f"{mark} {one.what:12} {one.found}")
            if one.advice and not one.ok:
                session.out.print(f"               {one.advice}", style="dim")

    session.answer([asdict(one) for one in found], human)
    essential = {"python", "data", "hub"}
    context.exit(0 if all(one.ok for one in found if one.what in essential) else 3)
