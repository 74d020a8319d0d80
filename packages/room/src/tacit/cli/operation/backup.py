"""`tacit backup`, `tacit restore`: one file with all that a hub needs to go on elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tacit.base.commands.output_place import OutputPlace
from tacit.base.errors import Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.cli.session import CliSession, pass_session
from tacit.cli.show import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.ledger.io.backup import Manifest

PASSPHRASE = "TACIT_BACKUP_PASSPHRASE"  # noqa: S105 - the name of a variable


def passphrase_of(path: Path | None) -> str | None:
    """The passphrase of a backup: a file's first line, or the variable; None when neither is given."""
    if path is None:
        return os.environ.get(PASSPHRASE) or None
    try:
        return path.read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        raise Unavailable(f"cannot read a passphrase from {path}") from None


def _passphrase_option(function: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--passphrase-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help=f"The passphrase of the backup, in its first line; or {PASSPHRASE}.",
    )(function)


def _told(manifest: Manifest) -> dict[str, object]:
    ends = {name: {"last_seq": end.last_seq, "chain": end.chain} for name, end in manifest.groups.items()}
    return {"made": manifest.made, "files": len(manifest.files), "groups": ends}


@click.command()
@click.argument("target", type=OutputPlace(), metavar="FILE|DIR/")
@_passphrase_option
@pass_session
def backup(session: CliSession, target: Path, passphrase_file: Path | None) -> None:
    """Write a backup: the ledger, its blobs, tokens' hashes, settings. Works beside a running hub.

    Into a folder, which is made when the path ends with a slash, it goes under the moment's name. With a
    passphrase it is encrypted.
    """
    from tacit.hub import backups

    words = passphrase_of(passphrase_file)
    path, manifest = backups.take(session.data, target, TimeService(), SystemEntropy(), words)
    size = path.stat().st_size
    groups, files = counted(len(manifest.groups), "group"), counted(len(manifest.files), "file")
    session.answer(
        {"path": str(path), "bytes": size, "encrypted": words is not None, **_told(manifest)},
        lambda: session.out.print(
            f"{path}: {groups}, {files}, {size // 1024} KiB" + (", encrypted" if words is not None else ""),
        ),
    )


@click.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@_passphrase_option
@pass_session
def restore(session: CliSession, source: Path, passphrase_file: Path | None) -> None:
    """Make the data folder of a backup. The folder must be new or empty; the backup is verified first.

    The owner gets a new token at the next start; other tokens hold.
    """
    from tacit.hub import backups

    manifest = backups.bring_back(source, session.data, SystemEntropy(), passphrase_of(passphrase_file))
    session.answer(
        {"data": str(session.data), **_told(manifest)},
        lambda: session.out.print(
            f"restored {counted(len(manifest.groups), 'group')} of {manifest.made} into {session.data}; "
            "start it with `tacit up`",
        ),
    )
