"""The pages about attention are made from the tables, and are fresh."""

from __future__ import annotations

import subprocess
import sys

from tacit.attention.decide.matrix import MATRIX
from tacit.c2a.vocabulary import Mode, Policy
from tools.places import ROOT


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_page_is_fresh_and_shows_every_policy_mode_and_row() -> None:
    checked = run("tools/attention_docs.py", "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    page = (ROOT / "docs" / "attention.md").read_text(encoding="utf-8")
    assert all(f"**`{one.value}`**" in page for one in (*Policy, *Mode))
    tables = (ROOT / "docs" / "reference" / "attention.md").read_text(encoding="utf-8")
    assert all(f"| {situation.value} |" in tables for situation in MATRIX)


def test_the_reference_of_tools_errors_and_records_is_fresh() -> None:
    checked = run("tools/c2a_reference.py", "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_report_of_the_intent_rules_runs() -> None:
    reported = run("tools/intent_report.py")
    assert reported.returncode == 0, reported.stderr
    assert "taken for small talk by mistake: 0" in reported.stdout
