"""Programs of a person's own: plain text, wrong paths, bad ends, and programs that will not go."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers.catalogue import build
from tacit.harness.drivers.io.child import Child
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.drivers.port import FailureKind, StandingInstructions
from tests.harness.drivers.rigs import RULES, RecordingWatch, alive, offspring, soon, turn, until


def program(state, code, *, plain=False):
    return build("command", DriverOptions(str(state), command=(sys.executable, "-c", code), plain_text=plain))


async def test_plain_text_goes_in_and_comes_out(tmp_path):
    code = "import sys, os; print(sys.stdin.read().upper(), '/', os.environ['TACIT_RULES'])"
    driver = program(tmp_path, code, plain=True)
    outcome = await soon(driver.run(turn("grüß gott"), RecordingWatch()))
    assert (outcome.text, outcome.failure) == (f"GRÜSS GOTT / {RULES}", None)
    assert not driver.traits.boundaries


async def test_a_program_need_not_read_its_turn(tmp_path):
    driver = program(tmp_path, 'print(\'{"text": "always the same"}\')')
    assert (await soon(driver.run(turn("x" * 2**20), RecordingWatch()))).text == "always the same"


@pytest.mark.parametrize(
    ("code", "kind", "word"),
    [
        ("pass", FailureKind.RETRYABLE, "rubbish"),
        ("print('no JSON')", FailureKind.RETRYABLE, "rubbish"),
        ("raise SystemExit(1)", FailureKind.RETRYABLE, "agent_error"),
        ("raise SystemExit(78)", FailureKind.PERMANENT, "agent_error"),
        ("import os; os.kill(os.getpid(), 9)", FailureKind.RETRYABLE, "agent_died"),
        ('print(\'{"text": "half"}\'); raise SystemExit(1)', FailureKind.RETRYABLE, "agent_error"),
    ],
)
async def test_a_bad_end_is_a_failure(tmp_path, code, kind, word):
    outcome = await soon(program(tmp_path, code).run(turn(), RecordingWatch()))
    assert (outcome.failure.kind, outcome.failure.code, outcome.text) == (kind, word, "")


async def test_bytes_that_are_no_text_are_rubbish(tmp_path):
    driver = program(tmp_path, "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", plain=True)
    assert (await soon(driver.run(turn(), RecordingWatch()))).failure.code == "rubbish"


@pytest.mark.parametrize("change", [{"command": ("/no/such/program",)}, {"directory": "/no/such/folder"}])
async def test_what_cannot_be_run_waits_for_a_person(tmp_path, change):
    options = DriverOptions(str(tmp_path), command=(sys.executable, "-c", "pass"))
    outcome = await soon(build("command", replace(options, **change)).run(turn(), RecordingWatch()))
    assert (outcome.failure.kind, outcome.failure.code) == (FailureKind.PERMANENT, "agent_error")


async def test_a_program_that_will_not_go_is_made_to_with_all_it_started(tmp_path):
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    code = (
        "import subprocess, sys, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"subprocess.Popen([sys.executable, '-c', {stubborn!r}], start_new_session=True);"
        'print(\'{"type": "text", "text": "ready"}\', flush=True); time.sleep(600)'
    )
    driver, asked, watch, before = program(tmp_path, code), turn(), RecordingWatch(), offspring()
    running = asyncio.create_task(driver.run(asked, watch))
    await until(lambda: watch.events)
    started = offspring() - before
    assert len(started) == 2
    await driver.cancel(asked.turn_id)
    assert (await soon(running, 10)).failure.kind is FailureKind.CANCELLED
    await until(lambda: not alive(started))


async def test_a_flood_on_stderr_neither_fills_the_disk_nor_holds_the_program_up(tmp_path):
    code = "import sys; sys.stderr.write('x' * 2**23 + 'last words'); print('{\"text\": \"ok\"}')"
    driver = program(tmp_path, code)
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "ok"
    kept = (tmp_path / "stderr.log").read_text()
    assert len(kept) <= 2**20
    assert kept.endswith("last words")


async def test_what_a_program_says_on_stderr_stays_in_its_folder(tmp_path, capfd):
    driver = program(tmp_path, "import sys; print('private', file=sys.stderr); print('{\"text\": \"ok\"}')")
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "ok"
    log = tmp_path / "stderr.log"
    assert log.read_text() == "private\n"
    assert log.stat().st_mode & 0o077 == 0
    assert "private" not in "".join(capfd.readouterr())


async def test_a_reply_ends_the_turn_whoever_still_holds_the_line(tmp_path):
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        'print(\'{"text": "done"}\', flush=True)'
    )
    before = offspring()
    outcome = await soon(program(tmp_path, code).run(turn(), RecordingWatch()), 8)
    assert (outcome.text, outcome.failure) == ("done", None)
    assert offspring() == before


async def test_plain_text_is_whole_when_the_program_has_ended_whoever_still_holds_the_line(tmp_path):
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "print('done ' * 40_000)"
    )
    before = offspring()
    outcome = await soon(program(tmp_path, code, plain=True).run(turn(), RecordingWatch()))
    assert (outcome.text, outcome.failure) == (("done " * 40_000).strip(), None)
    assert offspring() == before


async def test_an_argument_that_no_system_takes_waits_for_a_person(tmp_path):
    outcome = await soon(program(tmp_path, "pass # \0").run(turn(), RecordingWatch()))
    assert (outcome.failure.kind, outcome.failure.code) == (FailureKind.PERMANENT, "agent_error")


async def test_instructions_that_no_environment_holds_are_refused_with_the_reason(tmp_path):
    long = StandingInstructions("x" * 130_000, (), None)
    with pytest.raises(Refused, match="the instructions are over 120 KiB"):
        await program(tmp_path, "pass").start(long)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "state").write_text("a file")
    with pytest.raises(Unavailable, match="folder cannot be used"):
        await program(tmp_path / "state", "pass").start(StandingInstructions(RULES, (), None))


async def test_helpers_that_slipped_out_of_the_family_are_ended_too(tmp_path):
    words = ("helper-of-tests", str(tmp_path))
    line = [sys.executable, "-c", "import time; time.sleep(600)", *words]
    code = f"import subprocess; subprocess.Popen({line!r}, start_new_session=True)"
    detached = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}]); print('ready', flush=True); sys.stdin.read()"
    child = await Child.start(
        [sys.executable, "-c", detached],
        environment=os.environ,
        directory=str(tmp_path),
        state=tmp_path,
        strays=words,
    )
    assert await soon(child.line()) == b"ready\n"
    stray = {
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if mentions(path, words[1], "helper-of-tests")
    }
    assert len(stray) == 1
    await soon(child.end())
    assert alive(stray) == set()


def mentions(path, *words):
    try:
        return set(words) <= set(path.read_bytes().decode(errors="replace").split("\0"))
    except OSError:
        return False
