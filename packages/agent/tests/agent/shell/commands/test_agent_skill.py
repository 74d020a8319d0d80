"""The skill for OpenClaw: its commands against a real relay, whose answers they are, and its lint."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tacit.agent.scheduling.commands import facts
from tacit.agent.shell.commands import skill
from tacit.base.errors import Refused
from tests.agent.shell.commands.test_arrange import Owner, relay, shared
from tools.places import rooms

__all__ = ["relay"]

SKILL = rooms()["agent"] / "skills" / "tacit-a2acp"
SKILLSAW = Path(sys.executable).parent / "skillsaw"


def linted(folder: Path) -> subprocess.CompletedProcess[str]:
    words = [str(SKILLSAW), "lint", str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)


def the_day() -> datetime:
    """The Wednesday of next week."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today + timedelta(days=7 - today.weekday() + 2)


def calendar() -> dict:
    """Busy for a month, but for one day."""
    now, free = datetime.now(UTC), the_day()
    stretches = [(now - timedelta(days=1), free), (free + timedelta(days=1), now + timedelta(days=30))]
    return {
        "from": stretches[0][0].isoformat(),
        "to": stretches[1][1].isoformat(),
        "busy": [{"start": start.isoformat(), "end": end.isoformat()} for start, end in stretches],
    }


@pytest.mark.spec("A2ACP-267", "A2ACP-268", "A2ACP-269", "A2ACP-270", "A2ACP-271", "A2ACP-266")
def test_a_skill_registers_asks_with_facts_and_passes_on_what_the_person_wrote(relay, tmp_path):
    anna, ben = Owner(tmp_path, "skilled"), Owner(tmp_path, "plain")
    ben.register(relay)
    code = anna.invited(relay)
    anna.env["TACIT_SKILL"] = "1"
    anna.json("register", f"{anna.name}@{relay.domain}", "--relay", relay.url, "--code", code, "--plain-keys")
    ben.json("contact", f"{anna.name}@{relay.domain}", "add")
    ben.json("profile", "timezone=UTC", "dietary=anything")
    ben.run()
    try:
        arranged(anna, ben, relay)
    finally:
        ben.stop()


def arranged(anna: Owner, ben: Owner, relay) -> None:
    # A quiet heartbeat says nothing at all.
    assert anna.type("tick", "--json", "--if-any") == ""
    facts = {"calendar": calendar(), "fields": {"dietary": "PERSIMMON"}}
    sentence = (
        "ask",
        "lunch with plain next week",
        "--to",
        f"plain@{relay.domain}",
        "--facts",
        "-",
        "--json",
    )
    # Whom a skill writes to is the person's own choice, in the terminal.
    assert "not_a_contact" in anna.type(*sentence, stdin=json.dumps(facts), code=1)
    assert "not_for_a_skill" in anna.type("contact", f"plain@{relay.domain}", "add", code=1)
    del anna.env["TACIT_SKILL"]
    anna.json("contact", f"plain@{relay.domain}", "add")
    anna.env["TACIT_SKILL"] = "1"
    begun = json.loads(anna.type(*sentence, stdin=json.dumps(facts)).splitlines()[-1])
    thread = begun["thread_id"]
    assert json.loads(anna.type("tick", "--json", "--if-any"))["pending"] == 1
    question = anna.question("consent")
    fields = {one["field"]: one for one in question["fields"]}
    # The model's wish ticks nothing; the times are those of the facts, on the one free day.
    assert not any(one.get("ticked") for one in fields.values())
    assert {one["date"] for one in fields["time_windows"]["values"][0]} == {the_day().date().isoformat()}
    assert fields["dietary"]["values"] == ["PERSIMMON"]
    # And it is read first what would be said.
    assert fields["words_of_programs"]["values"][0].startswith("Lunch")
    # Nobody but the person answers, and the receipt names the message.
    asked = question["question_id"]
    said = anna.type("answer", asked, *shared(question), "--json", code=1)
    assert "message_id_needed" in said
    assert "bad_message_id" in anna.type("answer", asked, "--decline-all", "--message-id", "a b", code=1)
    anna.json("answer", asked, *shared(question), "--message-id", "msg-1")
    theirs = ben.question("consent")
    ben.json("answer", theirs["question_id"], *shared(theirs))
    checkpoint = anna.question("checkpoint", fetch=True)
    told = anna.json("disclosures")["disclosures"]
    released = {one["field"]: one["via"] for one in told if one["basis"] == "user_approved"}
    assert released["dietary"] == released["time_windows"] == "message:msg-1"
    # A message that answered before the question was asked is not about it.
    late = anna.type("answer", checkpoint["question_id"], "--confirm", "--message-id", "msg-1", code=1)
    assert "message_too_old" in late
    anna.json("answer", checkpoint["question_id"], "--confirm", "--message-id", "msg-2")
    ben.json("answer", ben.question("checkpoint", fetch=False)["question_id"], "--confirm")
    anna.state(thread, "COMPLETED", fetch=True)
    done = anna.json("thread", thread)["proposal"]["details"]
    assert (done["date"], "/" in done["time"]) == (the_day().date().isoformat(), True)
    # What has ended is told once, and then it is quiet again.
    news = anna.type("tick", "--json", "--if-any")
    assert thread in news
    assert anna.type("tick", "--json", "--if-any") == ""


@pytest.mark.spec("A2ACP-266")
def test_a_skill_changes_no_permission_and_no_key(tmp_path):
    anna = Owner(tmp_path, "skilled")
    anna.env["TACIT_SKILL"] = "1"
    for words in (
        ["permissions", "dietary", "always"],
        ["autonomy", "high"],
        ["profile", "dietary=x"],
        ["contact", "ben@example.org", "verified"],
        ["protect", "plain"],
        ["backup", "x"],
        ["mcp"],
    ):
        assert "not_for_a_skill" in anna.type(*words, code=1)
    assert not anna.folder.exists()


@pytest.mark.spec("A2ACP-268")
@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ("no json", "not JSON"),
        ("[]", "is an object"),
        ("{}", "neither"),
        ('{"calender": {}}', "nobody knows"),
        ('{"calendar": {"busy": []}}', "needs"),
        ('{"calendar": {"available": [{"start": "SECRET", "end": "2026-03-27T13:00:00Z"}]}}', "offset"),
        ('{"calendar": {"available": [{"start": "2026-03-27T13:00:00Z", "end": "2026-03-27T12:00:00Z"}]}}', "ends"),
        ('{"fields": {"": 1}}', "no name"),
        ('{"fields": ' + "[" * 100_000 + "]" * 100_000 + "}", "JSON"),
    ],
)  # fmt: skip
def test_facts_that_cannot_be_read_are_refused_by_their_place(relay, tmp_path, facts, says):
    anna = Owner(tmp_path, "anybody")
    anna.env["TACIT_SKILL"] = "1"
    said = anna.type("facts", "-", code=1, stdin=facts)
    assert says in said
    assert "bad_facts" in said
    assert "SECRET" not in said


@pytest.mark.spec("A2ACP-271")
def test_the_skill_passes_its_lint_and_one_without_a_description_does_not(tmp_path):
    clean = linted(SKILL.parent)
    assert clean.returncode == 0, clean.stdout
    copy = tmp_path / "skills" / SKILL.name
    shutil.copytree(SKILL, copy)
    file = copy / "SKILL.md"
    file.write_text(re.sub(r"(?m)^description:.*\n", "", file.read_text()))
    assert "description" in linted(copy.parent).stdout
    assert linted(copy.parent).returncode != 0


@pytest.mark.spec("A2ACP-271")
def test_every_command_of_the_skill_is_one_of_ours_and_marked_as_a_skills(tmp_path):
    anna = Owner(tmp_path, "reader")
    text = (SKILL / "SKILL.md").read_text()
    assert '"requires": { "bins": ["tacit"] }' in text
    commands = re.findall(r"TACIT_SKILL=1 tacit agent (\w[\w-]*)([^`\n]*)", text)
    assert {name for name, _ in commands} >= {"register", "ask", "pending", "answer", "tick", "facts"}
    for name, rest in commands:
        helped = anna.type(name, "--help")
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in helped, (name, option)
    bare = [line for line in text.splitlines() if re.match(r"\s*tacit agent", line)]
    assert bare == []


@pytest.mark.spec("A2ACP-268")
def test_a_file_of_facts_has_its_bound_and_says_why_it_is_none(tmp_path):
    assert facts.facts_in(None) is None
    good = b'{"fields": {"dietary": "no meat"}}'
    path = tmp_path / "facts.json"
    path.write_bytes(good + b" " * (facts.LONGEST_FILE - len(good)))
    assert facts.facts_in(path) is not None
    path.write_bytes(path.read_bytes() + b" ")
    for given, says in ((path, "longer than 1 MiB"), (tmp_path / "none.json", "cannot be read")):
        with pytest.raises(Refused, match=says) as refused:
            facts.facts_in(given)
        assert refused.value.code == "bad_facts"


@pytest.mark.spec("A2ACP-266")
@pytest.mark.parametrize("marked", ["1", "", None])
def test_what_only_an_owner_does_is_refused_to_a_skill_and_to_nobody_else(monkeypatch, marked):
    monkeypatch.delenv("TACIT_SKILL", raising=False)
    if marked is not None:
        monkeypatch.setenv("TACIT_SKILL", marked)
    assert skill.by_skill() is (marked == "1")
    for command in skill.ALLOWED:
        skill.check(command)
    for command in ("permissions", "page", None):
        if marked == "1":
            with pytest.raises(Refused) as refused:
                skill.check(command)
            assert refused.value.code == "not_for_a_skill"
        else:
            skill.check(command)
