"""Why an agent's program failed is told to its owner: the last line that it wrote, bounded, and to nobody else."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from tacit.base.errors import Unavailable
from tacit.cli.agents.join import Narrator
from tacit.cli.session import CliSession
from tacit.harness.drivers.catalogue import build
from tacit.harness.drivers.io.child import last_line
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.drivers.port import StandingInstructions
from tests.harness.drivers.rigs import RULES, RecordingWatch, turn

WORDS = "fatal: no model is configured in agent.toml"
PROGRAM = f"import sys; print('starting', file=sys.stderr); print({WORDS!r}, file=sys.stderr); sys.exit(3)"


@pytest.mark.parametrize("name", ["acp", "codex", "claude"])
async def test_what_a_program_said_before_it_died_is_the_cause(name, tmp_path):
    options = DriverOptions(str(tmp_path), model="scripted", key="k3y", model_retries=0)
    driver = build(name, replace(options, command=(sys.executable, "-c", PROGRAM)))
    try:
        outcome = await driver.run(turn(rules=RULES), RecordingWatch())
    finally:
        await driver.close()
    assert outcome.failure is not None
    assert outcome.failure.code == "agent_died"
    assert outcome.failure.cause == WORDS
    assert WORDS not in outcome.failure.hint


@pytest.mark.parametrize("name", ["acp", "codex", "claude"])
async def test_whoever_starts_it_is_told_the_cause(name, tmp_path):
    options = DriverOptions(str(tmp_path), model="scripted", key="k3y", model_retries=0)
    driver = build(name, replace(options, command=(sys.executable, "-c", PROGRAM)))
    with pytest.raises(Unavailable, match=WORDS):
        await driver.start(StandingInstructions(RULES, ()))
    await driver.close()


def test_no_secret_is_in_the_last_line_whole_or_in_part(tmp_path):
    file = tmp_path / "stderr.log"
    file.write_text("x" * 190 + " sk-very-secret-key was refused")
    assert "sk-very" not in last_line(file, ("sk-very-secret-key",))


def test_the_last_line_is_bounded_and_drives_no_terminal(tmp_path):
    file = tmp_path / "stderr.log"
    assert last_line(file) == ""
    file.write_bytes(b"\xff" * 10_000 + b"\nfirst\nlast \x1b[31mline\n\n  \n")
    assert last_line(file) == "last  [31mline"
    file.write_text("long " * 1000)
    assert len(last_line(file)) == 200


def test_the_owner_reads_it_beside_the_code(capsys):
    narrator = Narrator(CliSession(), "ada")
    narrator("turn_ended", turn_id="t1", failure="agent_died", hint="the agent's process ended", cause=WORDS)
    assert capsys.readouterr().out.splitlines() == [
        "ada got no answer (agent_died: the agent's process ended)",
        f"ada its program said: {WORDS}",
    ]
