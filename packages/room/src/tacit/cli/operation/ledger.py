"""`tacit ledger`: export, import, verify, rebuild and redact a data folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from tacit.attention.io.engine import AttentionEngine
from tacit.attention.io.redacting import Redacting
from tacit.base.commands.stream_options import plan_of, stream_options
from tacit.base.commands.terminal import styled
from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.contributions import JOURNALS, contributed, loaded
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.cli.session import CliSession, pass_session
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.store import DATABASE

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from tacit.ledger.engine import Engine


@click.group()
@click.option("--data", type=click.Path(path_type=Path), help="The hub's data folder.")
@pass_session
def ledger(session: CliSession, data: Path | None) -> None:
    """Take the ledger out, bring it in, check it, fold it anew, or take content out of it."""
    session.data = data or session.data


def _folder(session: CliSession) -> Path:
    """The folder of the ledger; asked for by a command that runs, not by its help."""
    if not (session.data / DATABASE).exists():
        raise Unavailable(f"there is no ledger in {session.data}")
    return session.data


def _engine(folder: Path) -> Callable[[apsw.Connection], Engine]:
    """The journal of a personal agent is folded by the agent's own rules."""
    try:
        for group_id, place in contributed(JOURNALS).items():
            if upkeep.holds(folder, group_id):
                engine: Callable[[apsw.Connection], Engine] = loaded(place)
                return engine
    except (Corrupt, Unavailable):
        pass
    return AttentionEngine


@ledger.command()
@click.option("--group", "group_id", metavar="GROUP_ID", help="Only this group.")
@click.option("--proof", is_flag=True, help="End with a line that says where each group's hashes end.")
@pass_session
def export(session: CliSession, group_id: str | None, proof: bool) -> None:
    """Every event as one line of JSON, in order. Works beside a running hub."""
    for raw in upkeep.export(_folder(session), group_id, proof=proof):
        sys.stdout.buffer.write(raw + b"\n")
    sys.stdout.buffer.flush()


@ledger.command(name="import")
@click.argument("source", type=click.File("rb"), metavar="FILE")
@pass_session
def import_(session: CliSession, source: BinaryIO) -> None:
    """Make a new ledger of exported events, and prove that it has the same hashes.

    With `export --proof` the proof is in the file, and the salts without which the hashes are others. Blobs
    and tokens are not in an export: `tacit backup` has all.
    """
    found = upkeep.bring_in(session.data, source, TimeService(), SystemEntropy(), AttentionEngine)

    def human() -> None:
        for group_id, end in found.ends.items():
            session.out.print(f"{group_id}  {end.last_seq} events  {end.chain}")
        session.out.print("the same hashes" if found.proved else "no proof came with it: the hashes are new")

    ends = {name: {"last_seq": end.last_seq, "chain": end.chain} for name, end in found.ends.items()}
    session.answer({"groups": ends, "proved": found.proved}, human)


@ledger.command()
@pass_session
@click.pass_context
def verify(context: click.Context, session: CliSession) -> None:
    """Check the file, every event's order, id, time and hash, every blob and every projection.

    A ledger that an earlier version of Tacit wrote is healthy when it can be brought forward.
    """
    folder = _folder(session)
    report = verification.verify(folder, SystemEntropy(), _engine(folder))

    def human() -> None:
        session.out.print(
            f"{report.groups} groups, {report.events} events ({report.redacted} redacted), "
            f"{report.blobs} blobs, {report.projections} projections"
        )
        for problem in report.problems:
            session.out.print(f"{styled('✗', 'red')} {problem}")
        if report.sound and report.is_older:
            session.out.print(
                f"{styled('✓', 'green')} older, healthy: another version of Tacit wrote this ledger, "
                "and the next start of its hub or agent brings it forward.",
            )
        elif report.sound:
            session.out.print(f"{styled('✓', 'green')} sound")
        else:
            session.out.print(
                "Stop the hub, keep a copy of the folder, and restore a backup; "
                "`tacit ledger export` takes out what can still be read."
            )

    session.answer(
        {
            "groups": report.groups,
            "events": report.events,
            "redacted": report.redacted,
            "blobs": report.blobs,
            "projections": report.projections,
            "problems": report.problems,
            "sound": report.sound,
            "older": report.is_older,
        },
        human,
    )
    context.exit(0 if report.sound else 1)


@ledger.command()
@pass_session
def rebuild(session: CliSession) -> None:
    """Fold every event again into empty projections. The hub, or the agent, must be stopped."""
    folder = _folder(session)
    count = upkeep.rebuild(folder, TimeService(), SystemEntropy(), AdmissionSettings(), _engine(folder))
    session.answer({"events": count}, lambda: session.out.print(f"folded {count} events"))


@ledger.command()
@click.argument("name", metavar="[GROUP", required=False)
@click.argument("event", metavar="EVENT]", required=False)
@click.option("--reason", default="", help="Why, for the record that stays.")
@click.option("--taken-back", is_flag=True, help="Instead: all that was taken back and is still there.")
@pass_session
def redact(session: CliSession, name: str | None, event: str | None, reason: str, taken_back: bool) -> None:
    """Take a message's content off the disk: text, edits, files. The hub must be stopped.

    EVENT is an event's id or its position, as #12. What stays says that it was redacted, by whom and when.
    While the hub runs, `tacit delete` does the same.
    """
    if taken_back == bool(name and event):
        raise click.UsageError("name a group and an event, or --taken-back")
    folder = _folder(session)
    if _engine(folder) is not AttentionEngine:
        raise Unavailable("this is an agent's journal; `tacit agent memory` forgets what it knows")
    with Redacting(folder, TimeService(), SystemEntropy()) as redacting:
        count = redacting.taken_back(reason) if taken_back else redacting.one(name or "", event or "", reason)
    session.answer({"redacted": count}, lambda: session.out.print(f"redacted {count} messages"))


@ledger.command()
@click.option(
    "--to-nats", "to", multiple=True, metavar="URL", help="Copy the ledger into an empty stream there."
)
@click.option("--from-nats", "out_of", multiple=True, metavar="URL", help="Copy a stream's ledger out of it.")
@stream_options
@pass_session
def copy(
    session: CliSession,
    to: tuple[str, ...],
    out_of: tuple[str, ...],
    **given: Any,
) -> None:
    """Move a ledger whose hub is stopped between its folder and a NATS stream; every event is verified."""
    if bool(to) == bool(out_of):
        raise click.UsageError("give --to-nats or --from-nats")
    if to:
        _folder(session)
    elif (session.data / DATABASE).exists():
        raise Refused("not_empty", f"there is a ledger in {session.data}: give an empty folder with --data")
    from tacit.hub.stream.access import served

    entropy = SystemEntropy()
    held = served(plan_of(to or out_of, given), session.data, entropy, alone=True)
    from tacit.ledger.io.jetstream.copying import copy_in, copy_out

    try:
        if to:
            count = copy_in(session.data, held.stream, entropy)
        else:
            count = copy_out(session.data, held.stream, AttentionEngine, entropy)
    finally:
        held.close()
    if session.as_json:
        session.print_json({"events": count})
        return
    session.out.print(f"{count} events are copied and verified.")
