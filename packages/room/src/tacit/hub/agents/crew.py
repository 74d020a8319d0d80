"""The hub's crew: agents that it runs for its owner, in a process beside it, over restarts of either.

The book (`harness/crew.py`) is one file in the data folder, written as a whole before anything is done. The
process (`harness/io/crew_process.py`) is started when the first agent is wanted, started again when it
dies, and ends with the hub. Each start of an agent gets a token of its own, and the one before dies with
it: of two harnesses of a name, at most one can speak. Whoever may ask is decided in
`hub/operations/crew.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.backoff import Backoff
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.own_program import own_program
from tacit.base.moment import SECOND, rfc3339
from tacit.harness.crew import (
    CrewBook,
    CrewEntry,
    CrewKey,
    CrewStatus,
    Invitation,
    book_document,
    read_book,
)
from tacit.harness.io import worktrees
from tacit.harness.io.placing import checked
from tacit.harness.io.turn_lock import changing
from tacit.harness.team import document_of
from tacit.hub.people.credentials import new_token
from tacit.ledger.codes import missing
from tacit.ledger.commands import RevokeCredential

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.harness.team import TeamMember
    from tacit.harness.worktree import Worktree, WorktreeOutcome
    from tacit.hub.config import HubConfig
    from tacit.hub.people.credentials import Registry
    from tacit.hub.store.async_ledger import AsyncLedger
    from tacit.ledger.io.store import StoreOptions

log: Final = logging.getLogger("tacit.hub")
FOLDER: Final = "crew"
BOOK: Final = "crew.json"
AGAIN: Final = Backoff(first=0.5, longest=30.0)
STEADY: Final = 60.0
"""Seconds after which a process that ran counts as well again."""
STOP_WITHIN: Final = 15.0
LINE_BYTES: Final = 1 << 22
LOG_BYTES: Final = 262_144
GONE: Final = "it was taken out of the room, where its name is not given again: remove it from the crew"
_UNSAFE: Final = re.compile(r"[^\w.-]+")


class Crew:
    """The agents of one hub, and the process that runs them."""

    def __init__(
        self,
        config: HubConfig,
        options: StoreOptions,
        registry: Registry,
        ledger: AsyncLedger,
        drop_tokens: Callable[..., None],
    ) -> None:
        self._agent_folders = config.agent_folders
        self._options = options
        self._registry = registry
        self._ledger = ledger
        self._drop_tokens = drop_tokens
        self._folder = config.data / FOLDER
        self._book = CrewBook()
        self._fault = ""
        self._url = ""
        self._statuses: dict[CrewKey, CrewStatus] = {}
        self._one = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self.process_id: int | None = None

    # -- life

    async def open(self, url: str) -> None:
        """Read the book, and start whoever shall run; the hub can be reached at `url`."""
        self._url = url
        try:
            self._book = await asyncio.to_thread(self._read)
        except Refused as refused:
            self._fault = (
                f"{self._folder / BOOK} cannot be used ({refused.message}): move it away and restart"
            )
            log.exception("the crew's book cannot be read")
            return
        if any(one.wanted for one in self._book.entries):
            await self._watch()

    async def close(self) -> None:
        """Every agent leaves; the process ends."""
        self._closing.set()
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
        if self._watching is None:
            return
        _done, late = await asyncio.wait({self._watching}, timeout=STOP_WITHIN)
        if late:
            if process is not None and process.returncode is None:
                process.kill()
            self._watching.cancel()
            await asyncio.wait({self._watching})

    async def _watch(self) -> None:
        """Make sure that there is a process; returns when the agents that shall run were told to it."""
        if self._watching is None:
            told = asyncio.Event()
            self._watching = asyncio.create_task(self._keep(told), name="crew")
            await told.wait()

    async def _keep(self, told: asyncio.Event) -> None:
        """Run the process, again and again, until the hub closes."""
        falls = 0
        while not self._closing.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await self._life(told)
            except Exception:
                # A writer that is just away, a full disk, a fault of ours: none is the end of the crew.
                log.exception("the crew's process cannot be started or heard")
            finally:
                self._process, self.process_id = None, None
                told.set()
            if self._closing.is_set():
                break
            falls = 0 if asyncio.get_running_loop().time() - began > STEADY else falls + 1
            for key, status in self._statuses.items():
                if status.state not in {"stopped", "failed"}:
                    self._note(key, "fallen", {"reason": "the crew's process ended; it is started again"})
            log.error("the crew's process ended", extra={"falls": falls})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(AGAIN.pause(max(falls - 1, 0))):
                    await self._closing.wait()
        for key in self._statuses:
            self._note(key, "ended", {})

    async def _life(self, told: asyncio.Event) -> None:
        process = await asyncio.create_subprocess_exec(
            *own_program("tacit.harness.io.crew_process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
        )
        self._process, self.process_id = process, process.pid
        try:
            async with self._one:
                for entry in self._book.entries:
                    if entry.wanted:
                        await self._send_start(entry)
            told.set()
            await self._hear(process)
        finally:
            if process.returncode is None:
                if process.stdin is not None:
                    process.stdin.close()
                await process.wait()

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            raise Unavailable("the crew's process has no line to the hub")
        while line := await process.stdout.readline():
            told = cast("dict[str, Any]", msgspec.json.decode(line))
            self._note(CrewKey(told["group_id"], told["name"]), told["what"], told["data"])

    def _note(self, key: CrewKey, what: str, data: dict[str, Any]) -> None:
        now = self._options.clock.now()
        self._statuses[key] = self._statuses.get(key, CrewStatus()).after(what, data, now)

    def _send(self, order: dict[str, Any]) -> None:
        if (
            self._process is not None
            and self._process.stdin is not None
            and not self._process.stdin.is_closing()
        ):
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")

    # -- the book

    def _read(self) -> CrewBook:
        try:
            raw = (self._folder / BOOK).read_bytes()
        except FileNotFoundError:
            return CrewBook()
        try:
            return read_book(msgspec.json.decode(raw, type=dict[str, Any]))
        except msgspec.DecodeError as error:
            raise Refused("invalid_request", "it is not JSON") from error

    async def _write(self, book: CrewBook) -> None:
        """Keep the book as a whole, durably; only then is it so."""

        def write() -> None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = self._folder / (BOOK + ".new")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(book_document(book)), indent=1))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._folder / BOOK)

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            raise Unavailable(f"the crew's book cannot be written: {error.strerror}") from error
        self._book = book

    def _usable(self) -> None:
        if self._fault:
            raise Unavailable(self._fault)

    def state_folder(self, key: CrewKey) -> Path:
        """Where an agent of the crew keeps its memory."""
        return self._folder / _UNSAFE.sub("_", key.group_id) / _UNSAFE.sub("_", key.name)

    # -- what the owner wants

    async def add(self, member: TeamMember, *, start: bool) -> CrewEntry:
        """Take an agent into the crew, its options checked; with `start` it begins at once."""
        self._usable()
        key = CrewKey(member.group, member.name)
        await asyncio.to_thread(
            checked, member, self.state_folder(key), base=Path.home(), environment=os.environ
        )
        async with self._one:
            if self._book.has(key):
                raise Refused("invalid_request", "the crew has an agent of this name in this room already")
            entry = CrewEntry(member, wanted=start)
            await self._write(self._book.put(entry))
        if start:
            await self.start(key)
        return self._book.entry(key)

    async def start(self, key: CrewKey) -> None:
        """Let an agent run; one that runs already is started anew."""
        self._usable()
        async with self._one:
            entry = replace(self._book.entry(key), wanted=True)
            if not await self._is_in_the_room(key):
                raise missing("actor", GONE, "CCCS-011")
            await self._write(self._book.put(entry))
            if self._process is not None:
                await self._send_start(entry)
        await self._watch()

    async def stop(self, key: CrewKey) -> None:
        """Let an agent leave, and stay away over restarts."""
        self._usable()
        async with self._one:
            await self._write(self._book.put(replace(self._book.entry(key), wanted=False)))
            self._send({"op": "stop", "group_id": key.group_id, "name": key.name})

    async def remove(self, key: CrewKey) -> None:
        """Let an agent leave for good; its memory and its worktree stay where they are."""
        self._usable()
        async with self._one:
            entry = self._book.entry(key)
            await self._write(self._book.without(key))
            self._send({"op": "stop", "group_id": key.group_id, "name": key.name})
            await self._revoke(entry)
        self._statuses.pop(key, None)

    async def _send_start(self, entry: CrewEntry) -> None:
        """A token for this start alone; the one of the start before dies first.

        Whom somebody took out of the room gets none.
        """
        await self._revoke(entry)
        if not await self._is_in_the_room(entry.key):
            self._note(entry.key, "given_up", {"reason": GONE})
            return
        issued = self._registry.prepare(entry.member.name, entry.member.group)
        await self._ledger.record(issued.record)
        self._registry.admit(issued, self._options.clock.now())
        await self._write(self._book.put(replace(entry, token_id=issued.credential.token_id)))
        key = entry.key
        self._note(key, "starting", {})
        self._send(
            {
                "op": "start",
                "group_id": key.group_id,
                "name": key.name,
                "agent": document_of(entry.member),
                "url": self._url,
                "token": issued.token,
                "state": str(self.state_folder(key)),
                "others": [str(self._folder), *map(str, self._agent_folders)],
            }
        )

    async def _is_in_the_room(self, key: CrewKey) -> bool:
        try:
            group = await self._ledger.read(lambda reader: reader.group(key.group_id))
        except Refused:
            return False  # there is no such room: this entry fails alone
        return group.actor(key.name) is not None

    async def _revoke(self, entry: CrewEntry) -> None:
        if entry.token_id and entry.token_id in self._registry.ids():
            await self._ledger.record(RevokeCredential(entry.token_id))
            self._drop_tokens(token_id=entry.token_id)

    # -- looking

    async def list(self) -> list[dict[str, Any]]:
        """Every agent of the crew: what it is, how it is, how its branch stands."""
        self._usable()
        return [await self._shown(entry) for entry in self._book.entries]

    async def _shown(self, entry: CrewEntry) -> dict[str, Any]:
        key = entry.key
        status = self._statuses.get(key, CrewStatus())
        return {
            "group_id": key.group_id,
            "actor_id": key.name,
            "agent": document_of(entry.member),
            "wanted": entry.wanted,
            "state": status.state,
            "since": rfc3339(cast("Any", status.since)) if status.since else None,
            "reason": status.reason,
            "restarts": status.restarts,
            "warning": status.notes.get("warning", ""),
            "worktree": await asyncio.to_thread(_worktree_shown, self.state_folder(key)),
        }

    def has(self, key: CrewKey) -> bool:
        """Is this agent of the crew?"""
        return self._book.has(key)

    async def show(self, key: CrewKey) -> dict[str, Any]:
        """One agent of the crew."""
        return await self._shown(self._book.entry(key))

    async def log(self, key: CrewKey, limit: int) -> dict[str, Any]:
        """The end of an agent's log, and of what its own program said on standard error."""
        self._book.entry(key)
        folder = self.state_folder(key)

        def read() -> dict[str, Any]:
            return {
                "lines": _tail(folder / "agent.log").splitlines()[-limit:],
                "stderr": _tail(folder / "driver" / "stderr.log").splitlines()[-limit:],
            }

        return await asyncio.to_thread(read)

    async def diff(self, key: CrewKey) -> dict[str, Any]:
        """What an agent changed in its worktree."""
        tree = self._tree(key)
        return {"diff": await asyncio.to_thread(worktrees.diff, tree)}

    def _tree(self, key: CrewKey) -> Worktree:
        self._book.entry(key)
        tree = worktrees.kept(self.state_folder(key))
        if tree is None:
            raise Refused("invalid_request", "this agent has no worktree")
        return tree

    async def change_worktree(self, key: CrewKey, op: str, *, force: bool) -> WorktreeOutcome:
        """Merge, rebase or discard, one at a time; the tree of an agent that runs is not discarded."""
        tree = self._tree(key)
        async with self._one:
            if op == "merge":
                return await asyncio.to_thread(_changed, worktrees.merge, tree, self.state_folder(key))
            if op == "rebase":
                return await asyncio.to_thread(_changed, worktrees.rebase, tree, self.state_folder(key))
            if self._statuses.get(key, CrewStatus()).state not in {"stopped", "failed"}:
                raise Refused("invalid_request", f"{key.name} is running in this worktree: stop it first")
            return await asyncio.to_thread(worktrees.discard, tree, self.state_folder(key), force=force)

    # -- agents of other machines

    async def invite(self, key: CrewKey, hours: float) -> str:
        """A code that lets one agent of another machine in, once."""
        self._usable()
        code = new_token(self._options.entropy)
        now = self._options.clock.now()
        until = int(now + hours * 3600 * SECOND)
        async with self._one:
            await self._write(
                self._book.invited(Invitation(code_digest(code), key.group_id, key.name, until), now)
            )
        return code

    async def redeem(self, code_hash: str) -> Invitation | None:
        """Whom the code with this digest lets in; it is used up before anybody hears of it."""
        if self._fault:
            raise Unavailable("this hub cannot let anybody in now; its owner sees why")
        now = self._options.clock.now()
        async with self._one:
            book, found = self._book.redeemed(code_hash, now)
            if found is not None:
                await self._write(book)
        return found


def code_digest(code: str) -> str:
    """What is kept of a code."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            size = file.tell()
            file.seek(max(0, size - LOG_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return text if size <= LOG_BYTES else text.partition("\n")[2]


def _changed(act: Callable[[Worktree], WorktreeOutcome], tree: Worktree, state: Path) -> WorktreeOutcome:
    """A merge or a rebase, unless the agent is at work in the tree."""
    with changing(state, tree.agent):
        return act(tree)


def _worktree_shown(state: Path) -> dict[str, Any] | None:
    try:
        tree = worktrees.kept(state)
        if tree is None:
            return None
        return {**tree.as_record(), **worktrees.status(tree).as_json(), "fault": ""}
    except (Refused, Unavailable) as error:
        return {"fault": str(error)}
