"""Alive is not ready; what the machine refuses is one line and the way out."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import pytest

from tacit.base.commands.outcome import refused_by_machine
from tacit.base.errors import Refused
from tacit.cli.operation import doctor
from tacit.cli.session import CliSession
from tacit.hub.config import HubConfig, Limits
from tacit.ledger.io.store import StoreOptions
from tests.hub.room import WAIT, running
from tests.ledger.io import faulty

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_hub_is_ready_and_alive(room) -> None:
    assert (await room.get("/healthz", token=None)).status == 200
    answer = await room.get("/readyz", token=None)
    assert (answer.status, answer.body) == (200, {"status": "ok"})


@pytest.mark.folder
async def test_while_commits_fail_it_is_alive_but_not_ready_and_ready_again_when_the_disk_is(
    tmp_path,
) -> None:
    with faulty.disk() as disk:
        async with running(tmp_path / "data", options=StoreOptions(vfs=disk.name)) as room:
            group = await room.group()
            disk.fail("write", 0, apsw.FullError, times=10_000)
            refused = await room.append(group, "chat.message", {"text": "hello"})
            assert refused.code == "daemon_unavailable"
            assert (await room.get("/healthz", token=None)).status == 200
            answer = await room.get("/readyz")
            assert answer.status == 503
            assert answer.body["why"][0].startswith("commits fail: ")
            disk.heal()
            async with asyncio.timeout(WAIT):
                while (await room.get("/readyz", token=None)).status != 200:
                    pass
            await room.say(group, "hello again")


async def test_with_a_disk_that_is_nearly_full_it_is_not_ready(tmp_path: Path) -> None:
    async with running(tmp_path / "data", least_free_bytes=1 << 62) as room:
        answer = await room.get("/readyz")
        assert answer.status == 503
        assert "nearly full" in answer.body["why"][0]


async def test_why_a_hub_is_not_ready_is_told_to_its_owners_token_and_the_bare_state_to_everybody(
    tmp_path: Path,
) -> None:
    async with running(tmp_path / "data", least_free_bytes=1 << 62) as room:
        agent = await room.actor(await room.group(), "ann")
        for token in (None, agent, "tct_of-nobody"):
            answer = await room.get("/readyz", token=token)
            assert (answer.status, answer.body) == (503, {"status": "not_ready"})
        assert "why" in (await room.get("/readyz")).body


async def test_the_doctor_tells_why_a_hub_is_not_ready_and_names_no_token(tmp_path: Path) -> None:
    async with running(tmp_path / "data", least_free_bytes=1 << 62) as room:
        session = CliSession(given_url=room.url, data=tmp_path / "data")
        findings = await asyncio.to_thread(doctor.findings, session)
        (ready,) = [finding for finding in findings if finding.what == "ready"]
        assert (ready.ok, "nearly full" in ready.found) == (False, True)
        assert room.owner not in repr(findings)


async def test_probes_of_a_hub_that_is_not_ready_count_as_no_failed_sign_ins(tmp_path: Path) -> None:
    few = Limits(failed_sign_ins_per_second=0.2)
    async with running(tmp_path / "data", least_free_bytes=1 << 62, limits=few) as room:
        for _ in range(20):
            assert (await room.get("/readyz", token=None)).status == 503
        assert (await room.get("/v1/groups", token="tct_of-nobody")).status == 401


LIMITED = """
import resource, signal, sys
from tacit.base.commands.main import main
what, most = sys.argv.pop(1), int(sys.argv.pop(1))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(getattr(resource, what), (most, most))
main()
"""


def ended(data: Path, what: str, most: int) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", LIMITED, what, str(most), "--data", data, "up", "--port", "0", "--no-crew"]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("left", [False, True], ids=["new", "after-a-kill"])
@pytest.mark.parametrize(("what", "most"), [("RLIMIT_FSIZE", 20_000), ("RLIMIT_NOFILE", 8)])
async def test_a_start_that_the_machine_refuses_is_one_line(tmp_path: Path, what, most, left) -> None:
    data = tmp_path / "data"
    if left:
        async with running(data) as room:
            group = await room.group()
            for number in range(20):
                await room.say(group, f"message {number} " + "lorem ipsum " * 50)
            killed = tmp_path / "killed"
            killed.mkdir()
            for path in (data / "ledger.db", data / "ledger.db-wal", data / "owner.token"):
                (killed / path.name).write_bytes(path.read_bytes())
        # The end of the log is torn, as a kill leaves it.
        with (killed / "ledger.db-wal").open("r+b") as log:
            log.truncate(log.seek(0, os.SEEK_END) - 100)
        data = killed
    done = ended(data, what, most)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("unavailable: ")


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    for number, word in (
        (errno.ENOSPC, "full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "chown"),
        (errno.EMFILE, "ulimit"),
    ):
        said = refused_by_machine(OSError(number, os.strerror(number), "/data/lock"))
        assert said.startswith("/data/lock: ")
        assert word in said


def test_a_folder_whose_place_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    done = ended(tmp_path / "data", "RLIMIT_NOFILE", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1].startswith("unavailable: ")
    assert "Traceback" not in done.stderr


def test_a_public_url_and_proxies_are_checked(tmp_path: Path) -> None:
    for wrong in (
        {"public_url": "tacit.example"},
        {"public_url": "https://tacit.example/path"},
        {"trusted_proxies": ("proxy.example",)},
        {"trusted_proxies": ("127.0.0.1",), "local_trust": True},
    ):
        with pytest.raises(Refused):
            HubConfig(tmp_path, **wrong).check()
    HubConfig(tmp_path, public_url="https://tacit.example", trusted_proxies=("10.0.0.0/8", "::1")).check()
