"""Files of a turn on the agent's own disk, where its tools can open them; and the prompt that names them.

In a folder of the driver's own they stay, as the session that read them does. In a folder that a person
named, which every audience's agent works in, they are gone when the turn is over, or before the agent's next
one where a crash was its end; and no version control sees them. No link in that folder is followed.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Unavailable
from tacit.harness.drivers.files import folder_name, is_image, safe_name, with_files
from tacit.harness.drivers.options import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Generator

    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import TurnFile, TurnRequest

FOLDER: Final = ".tacit-files"
_UNWRITTEN: Final = "it could not be put on the agent's disk"


@dataclass(frozen=True, slots=True)
class Handed:
    """What an agent is given at the beginning of a turn, or in its middle."""

    prompt: str
    pictures: tuple[TurnFile, ...] = ()
    """Files that go along with the prompt as pictures."""
    paths: tuple[tuple[TurnFile, str], ...] = ()
    """Files that lie on the agent's disk."""


@dataclass(slots=True)
class FilePlace:
    """Where the files of one turn lie, and how its agent takes them."""

    folder: Path
    pictures: bool
    on_disk: bool = True
    boundary: str = ""
    """The word in the titles of the turn's prompt."""
    handed: int = 0
    """How many files the turn has been given; numbers their names."""
    given: Handed = field(default_factory=lambda: Handed(""))
    """What the turn began with."""

    def hand(self, words: str, files: tuple[TurnFile, ...]) -> Handed:
        """Words with their files, in the form that the agent takes."""
        known = dict(enumerate(files, 1))
        seen = frozenset(
            number for number, file in known.items() if self.pictures and is_image(file) and not file.left_out
        )
        paths = _placed(self.folder, known, self.handed) if self.on_disk else {}
        self.handed += len(files)
        return Handed(
            with_files(words, files, boundary=self.boundary, seen=seen, paths=paths),
            tuple(known[number] for number in sorted(seen)),
            tuple((known[number], path) for number, path in paths.items()),
        )

    def hand_more(self, words: str, files: tuple[TurnFile, ...]) -> Handed:
        """Words that come in the middle of the turn; a disk that takes no file does not keep them back."""
        try:
            return self.hand(words, files)
        except Unavailable:
            return self.hand(words, tuple(replace(one, data=b"", left_out=_UNWRITTEN) for one in files))


@contextmanager
def handed(
    request: TurnRequest, options: DriverOptions, *, pictures: bool, on_disk: bool = True
) -> Generator[FilePlace]:
    """The turn's prompt and files, in the form that an agent takes, and a place for what comes later.

    While the turn runs.
    """
    named = request.standing.directory or options.directory
    directory = Path(named or Path(options.state) / "work")
    own = directory / FOLDER / _agent_name(options)
    place = FilePlace(own / folder_name(request.turn_id), pictures, on_disk, request.boundary)
    if named is not None:
        _clear(own)  # what a process that was killed has left, for whomever
    try:
        place.given = place.hand(request.prompt, request.files)
        yield place
    finally:
        if named is not None and (place.handed or request.files):
            _clear(own)


def _placed(folder: Path, files: dict[int, TurnFile], before: int) -> dict[int, str]:
    wanted = {number: file for number, file in files.items() if not file.left_out}
    if not wanted:
        return {}
    own, shared = folder.parent, folder.parent.parent
    if any(one.is_symlink() for one in (shared, own, folder)):
        raise Unavailable(f"the files of a turn cannot be written: {FOLDER} leads elsewhere")
    paths: dict[int, str] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(shared / ".gitignore", b"*\n")
        for number, file in wanted.items():
            path = folder / safe_name(file.name, before + number)
            _write(path, file.data)
            paths[number] = str(path)
    except OSError as error:
        raise Unavailable(f"the files of a turn cannot be written: {error.strerror}") from error
    return paths


def _clear(own: Path) -> None:
    if not own.parent.is_symlink():  # where it is one itself it is left alone
        shutil.rmtree(own, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(made, "wb") as out:
        out.write(data)


def _agent_name(options: DriverOptions) -> str:
    """A name for the agent's own folder among those of others: the same for all its audiences."""
    state = Path(options.state)
    return folder_name(str(state.parent.parent if state.parent.name == PRIVATE else state))
