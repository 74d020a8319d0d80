"""The benchmark's own arithmetic: nobody who was meant is missed, and a log is read as described."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LOG = [
    {"n": 1, "by": "ann", "text": "hi all, my sound card is dead", "at_s": 0, "reply_to": []},
    {"n": 2, "by": "Helper", "text": "ann: which card is it", "at_s": 9, "reply_to": [1]},
    {"n": 3, "by": "ann", "text": "an old one", "at_s": 20, "reply_to": [2]},
    {"n": 4, "by": "ann", "text": "Helper: it is a sblive", "at_s": 22, "reply_to": [2]},
    {"n": 5, "by": "bob", "text": "the weather is fine", "at_s": 50, "reply_to": []},
    {"n": 6, "by": "bob", "text": "does anybody know a good card", "at_s": 60, "reply_to": []},
    {"n": 7, "by": "Helper", "text": "bob: the same as hers", "at_s": 900, "reply_to": [6]},
]


def bench(*arguments: str) -> tuple[int, dict[str, dict[str, object]]]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.attention", "--json", *arguments],
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


def written(tmp_path: Path, log: list[dict[str, object]], *more: str) -> tuple[dict, dict]:
    path, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    rows = [row | {"annotated": True, "file": "day"} for row in log]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    code, found = bench("--log", str(path), "--decisions", str(out), *more)
    assert code == 0
    decisions = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return found["log"], {(one["n"], one["agent"]): one for one in decisions}


def test_a_log_is_judged_by_its_annotation_and_every_decision_is_written(tmp_path: Path) -> None:
    found, decisions = written(tmp_path, LOG)
    # Aimed at Helper: the lines that it answered, and those that answer it. The first and the sixth name nobody.
    assert found["cues"]["name at the start or end"] == {"aimed": 3, "recall": 1.0}
    assert found["ways"]["everything"]["recall"] == 1.0
    assert {one["mode"] for key, one in decisions.items() if key in {(3, "Helper"), (4, "Helper")}} == {
        "buffered"
    }
    assert decisions[5, "Helper"]["mode"] == decisions[6, "Helper"]["mode"] == "tool_mailbox"
    assert set(decisions[3, "Helper"]) == {"file", "n", "agent", "mode", "policy", "confidence", "rule"}
    assert len(decisions) == len(LOG) * 3 - len(LOG), "each line for each listener but its author"


@pytest.mark.parametrize("links", ["flat", "threaded"])
def test_the_decider_never_sees_the_label(tmp_path: Path, links: str) -> None:
    """The same lines with every label moved are decided as before; only the links that a client has may differ."""
    _, before = written(tmp_path, LOG, "--links", links)
    moved = [row | {"reply_to": [7 - 2 * (row["n"] % 2)] if row["n"] < 4 else []} for row in LOG]  # type: ignore[operator]
    _, after = written(tmp_path, moved, "--links", links)
    same = {key: one for key, one in after.items() if key in before}
    assert (same == {key: before[key] for key in same}) is (links == "flat")


def test_a_log_that_is_not_one_is_refused_with_its_line(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"by": "a", "text": "x", "at_s": 1}\n{"by": "a"}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bench.attention", "--log", str(log)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "line 2" in done.stderr


def test_a_question_in_several_lines_is_whole_when_one_turn_has_them_all(tmp_path: Path) -> None:
    """Three lines of ann's to Helper, who answers; then one line alone, which looks whole."""
    said = [
        ("ann", "Helper: hey", 0.0, []),
        ("bob", "the weather is fine", 1.0, []),
        ("ann", "my sound card is dead", 3.0, [0]),
        ("ann", "what can I do?", 5.5, [2]),
        ("Helper", "ann: which one is it", 65.5, [3]),
        ("bob", "Helper: is it the same as mine?", 200.0, []),
        ("Helper", "bob: yes", 230.0, [5]),
    ]
    log = tmp_path / "log.jsonl"
    rows = [
        {"n": n, "by": by, "text": text, "at_s": at, "reply_to": above, "annotated": True}
        for n, (by, text, at, above) in enumerate(said)
    ]
    log.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bench.bursts", str(log), "--thinks", "15", "--json"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)[0]
    assert (found["questions"], found["reached"], found["whole"]) == (1, 1, 1)
    assert found["median_wait_s"] == 0
    assert found["alone"] == {"whole": {"count": 1, "median_s": 0.0, "most_s": 0.0}}
