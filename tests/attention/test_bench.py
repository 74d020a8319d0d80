"""The benchmark's own arithmetic: nobody who was meant is missed, and a log is read as described."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOG = [
    {"n": 1, "by": "ann", "text": "hi all, my sound card is dead", "at_s": 0, "reply_to": [1]},
    {"n": 2, "by": "Helper", "text": "ann: which card is it", "at_s": 9, "reply_to": [1]},
    {"n": 3, "by": "ann", "text": "an old one", "at_s": 20, "reply_to": [2]},
    {"n": 4, "by": "ann", "text": "Helper: it is a sblive", "at_s": 22},
    {"n": 5, "by": "bob", "text": "Helper, thanks for yesterday", "at_s": 30},
    {"n": 6, "by": "Other", "text": "Helper: could you take this one", "at_s": 40},
    {"n": 7, "by": "bob", "text": "the weather is fine", "at_s": 50},
]


def bench(*arguments: str) -> tuple[int, dict[str, dict[str, object]]]:
    done = subprocess.run(
        [sys.executable, "bench/attention.py", "--json", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.spec("C2A-003")
def test_a_busy_channel_costs_few_turns_and_misses_nobody() -> None:
    code, found = bench("--only", "replay", "--messages", "1500", "--seed", "11")
    ways: dict[str, dict[str, int]] = found["replay"]["ways"]  # type: ignore[assignment]
    assert code == 0
    assert ways["attention"]["missed"] == 0
    assert ways["attention"]["turns"] * 10 < ways["every agent sees every message"]["turns"]
    assert ways["mention only"]["missed"] > 0
    assert bench("--only", "replay", "--messages", "1500", "--seed", "11")[1]["replay"]["ways"] == ways


def test_a_log_is_read_and_every_decision_written(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    log.write_text("\n".join(map(json.dumps, LOG)), encoding="utf-8")
    code, found = bench("--log", str(log), "--agents", "Helper,Other", "--decisions", str(out))
    assert code == 0
    assert (found["log"]["messages"], found["log"]["directed"]) == (7, 4)
    assert found["log"]["directed_small_talk_left_silent"] == 1
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    policies = {(row["n"], row["agent"]): row["policy"] for row in rows}
    assert len(policies) == 14
    assert [policies[n, "Helper"] for n in range(1, 8)] == [
        "must_not_respond", "must_not_respond", "must_respond", "must_respond", "must_not_respond", "must_respond", "must_not_respond",
    ]  # fmt: skip
    assert all(row["why"] and row["because"] for row in rows)


def test_a_long_talk_of_two_speakers_of_a_log_is_no_loop_unless_asked(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    talk = [
        {
            "by": ("[A]", "b|x")[n % 2],
            "text": f"point {n} is about the kernel",
            "at_s": n * 60,
            "reply_to": [n],
            "file": "f",
        }
        for n in range(12)
    ]
    log.write_text("\n".join(json.dumps(row | {"n": n + 1}) for n, row in enumerate(talk)), encoding="utf-8")
    code, found = bench("--log", str(log), "--agents", "[A],b|x")
    assert (code, found["log"]["directed"]) == (0, 11)
    assert bench("--log", str(log), "--agents", "[A],b|x", "--loops")[0] == 1


def test_a_log_that_is_not_one_is_refused_with_its_line(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"by": "a", "text": "x", "at_s": 1}\n{"by": "a"}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "bench/attention.py", "--log", str(log), "--agents", "a"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "line 2" in done.stderr
