"""Deeds by real programs: what they get, how they end, and what a kill in between leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tacit.agent.scheduling.actions.io.command import CommandHandler
from tacit.agent.scheduling.actions.port import DONE, FAILED, UNKNOWN, Deed, Result
from tacit.base.errors import Refused

DEED = Deed("act_abc", "book_table", {"date": "2026-03-27", "summary": "Dinner; rm -rf /"})

BOOKS = """
import json, os, pathlib, sys
deed, folder = json.load(sys.stdin), pathlib.Path(sys.argv[1])
booking = folder / (deed["action_id"] + ".json")
if sys.argv[-1] == "undo":
    booking.unlink(missing_ok=True)
elif not booking.exists():
    booking.write_text(json.dumps(deed))
    with (folder / "log").open("a") as log:
        log.write("booked\\n")
    if (folder / "hang").exists():
        (folder / "pid").write_text(str(os.getpid()))
        open(folder / "booked.fifo", "w").close()
        open(folder / "never.fifo").read()
print(json.dumps({"reference": "T-7"}))
"""


def program(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(text)
    return [sys.executable, "-I", "-S", str(path), str(folder)]


async def ends(folder: Path, text: str, **given: float) -> Result:
    return await CommandHandler(program(folder, text), **given).do(DEED)


@pytest.mark.spec("A2ACP-166", "A2ACP-167")
async def test_a_program_gets_the_deed_on_its_input_and_do_or_undo_last(tmp_path: Path) -> None:
    handler = CommandHandler(program(tmp_path, BOOKS))
    assert handler.reversible
    result = await handler.do(DEED)
    assert (result.status, result.reference) == (DONE, "T-7")
    booked = json.loads((tmp_path / "act_abc.json").read_text())
    assert booked == {"action_id": "act_abc", "action": "book_table", "details": DEED.details}
    assert (await handler.undo(DEED)).status == DONE
    assert not (tmp_path / "act_abc.json").exists()
    assert (await handler.undo(DEED)).status == DONE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import sys; sys.exit(0)", DONE), ("import sys; sys.exit(1)", FAILED), ("import sys; sys.exit(75)", UNKNOWN),
        ("import sys; sys.exit(2)", UNKNOWN), ("import os; os.kill(os.getpid(), 9)", UNKNOWN),
        ("import sys; sys.stdin.close(); sys.exit(0)", DONE), ("print('no json')", DONE),
        ("import sys; sys.stdout.write('x' * 10_000_000)", DONE),
    ],
)  # fmt: skip
async def test_its_exit_says_what_became_of_it(tmp_path: Path, text: str, status: str) -> None:
    assert (await ends(tmp_path, text)).status == status


async def test_its_reason_is_one_short_line(tmp_path: Path) -> None:
    result = await ends(
        tmp_path, "import sys; print('{\"reason\": \"full\\\\nup' + 'p' * 999 + '\"}'); sys.exit(1)"
    )
    assert result.reason.startswith("full up")
    assert len(result.reason) == 200


async def test_a_program_that_does_not_end_in_time_is_ended_and_nobody_can_say(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never.fifo")
    result = await ends(tmp_path, "import sys; open(sys.argv[1] + '/never.fifo').read()", timeout=0.1)
    assert result.status == UNKNOWN


async def _gone(pid: int) -> None:
    """Until the process is dead; a zombie is."""
    while True:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state in "ZX":
            return
        await asyncio.sleep(0)


async def test_a_program_that_has_ended_is_believed_though_a_child_of_it_holds_the_line(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "never.fifo")
    text = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", f"open({sys.argv[1] + '/never.fifo'!r}).read()"])
"""
    assert (await ends(tmp_path, text)).status == DONE


async def test_a_stranger_who_slipped_out_of_the_group_and_holds_the_line_keeps_nobody_waiting(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "never.fifo")
    text = """
import subprocess, sys
stray = subprocess.Popen([sys.executable, "-c", f"open({sys.argv[1] + '/never.fifo'!r}).read()"], start_new_session=True)
open(sys.argv[1] + "/pid", "w").write(str(stray.pid))
"""
    assert (await ends(tmp_path, text)).status == DONE
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_a_program_that_is_not_there_has_failed(tmp_path: Path) -> None:
    assert (await CommandHandler([str(tmp_path / "nobody")]).do(DEED)).status == FAILED
    (tmp_path / "text").write_text("no program")
    assert (await CommandHandler([str(tmp_path / "text")]).do(DEED)).status == FAILED


async def test_it_sees_little_of_our_environment_and_no_shell_reads_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_SECRET", "s3cret")
    text = "import json, os, sys; print(json.dumps({'reference': json.dumps([sorted(os.environ), sys.argv[2:]])}))"
    handler = CommandHandler([*program(tmp_path, text), "$HOME", "; ls"], environment={"GIVEN": "1"})
    environment, arguments = json.loads((await handler.do(DEED)).reference)
    assert "TACIT_SECRET" not in environment
    assert {"GIVEN", "PATH"} <= set(environment)
    assert set(environment) <= {"GIVEN", "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
    assert arguments == ["$HOME", "; ls", "do"]


async def test_details_that_are_too_long_fail_before_anything_starts(tmp_path: Path) -> None:
    handler = CommandHandler(program(tmp_path, BOOKS))
    assert (await handler.do(Deed("act_long", "book_table", {"note": "x" * 70_000}))).status == FAILED
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("argv", [[], [""], ["a\0b"]])
def test_a_command_without_a_program_is_refused(argv: list[str]) -> None:
    with pytest.raises(Refused):
        CommandHandler(argv)


RUNNER = """
import asyncio, sys
from tacit.agent.scheduling.actions.io.command import CommandHandler
from tacit.agent.scheduling.actions.port import Deed
asyncio.run(CommandHandler(sys.argv[1:]).do(Deed("act_abc", "book_table", {})))
"""


@pytest.mark.spec("A2ACP-166")
async def test_killed_after_the_booking_it_is_booked_once_under_the_same_id(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "booked.fifo")
    os.mkfifo(tmp_path / "never.fifo")
    (tmp_path / "hang").touch()
    argv = program(tmp_path, BOOKS)
    agent = await asyncio.create_subprocess_exec(sys.executable, "-c", RUNNER, *argv)
    await asyncio.to_thread((tmp_path / "booked.fifo").read_bytes)
    agent.kill()
    await agent.wait()
    (tmp_path / "hang").unlink()
    assert (await CommandHandler(argv).do(Deed("act_abc", "book_table", {}))).status == DONE
    assert (tmp_path / "log").read_text() == "booked\n"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


FAMILY = """
import os, subprocess, sys
folder = sys.argv[1]
child = subprocess.Popen([sys.executable, "-c", f"open({folder + '/never.fifo'!r}).read()"])
open(folder + "/pid", "w").write(str(child.pid))
open(folder + "/ready.fifo", "w").close()
child.wait()
"""


async def test_a_cancelled_deed_leaves_neither_the_program_nor_its_children_behind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready.fifo")
    os.mkfifo(tmp_path / "never.fifo")
    doing = asyncio.create_task(CommandHandler(program(tmp_path, FAMILY)).do(DEED))
    await asyncio.to_thread((tmp_path / "ready.fifo").read_bytes)
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    await _gone(int((tmp_path / "pid").read_text()))
