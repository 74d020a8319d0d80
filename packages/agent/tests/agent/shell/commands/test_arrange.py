"""The personal agent from a terminal: every command, with a running agent and without one, and how each ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import subprocess
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import msgspec
import pytest

from tacit.a2acp.packets.windows import read_windows
from tacit.agent.brain.port import READ_REQUEST, Task
from tacit.agent.brain.rules import Rules
from tacit.agent.shell.commands import arrange_show
from tacit.agent.shell.commands.demo.group import wish
from tacit.agent.shell.commands.demo.stage import DAYS_AHEAD, ZONE
from tacit.agent.shell.commands.demo.talk import TalkScreen
from tacit.agent.shell.commands.desk import card as agent_card
from tacit.agent.shell.commands.desk import card_show
from tacit.base.agent_results import QuestionResult
from tacit.base.moment import SECOND, Moment
from tests.days import weekday
from tests.processes import RelayProcess
from tests.relay_support import free_port
from tests.shell import TACIT
from tests.typed import typed

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 60
QUESTION = {
    "question_id",
    "kind",
    "thread_id",
    "counterpart",
    "asked_at",
    "fields",
    "proposal",
    "choices",
}
FIELD = {"field", "reason", "priority", "values", "own"}
THREAD = {
    "state",
    "flags",
    "intent",
    "participants",
    "turns",
    "shared",
    "requested",
    "outstanding",
    "history",
    "steps",
    "actions",
}
PRIVATE = {"alice": "home_address", "bob": "budget_range", "charlie": "health_info", "diana": "dietary"}
RECEIPT = {"to", "thread_id", "packet_id", "field", "value", "basis", "question_id", "via", "at"}


class Owner:
    """One person at a terminal, with a folder of its own."""

    def __init__(self, home: Path, name: str) -> None:
        self.name = name
        self.folder = home / name
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("TACIT")},
            "XDG_DATA_HOME": str(home / "data"),
            "HOME": str(home),
            "COLUMNS": "120",
            "NO_COLOR": "1",
            "TZ": "UTC",
        }
        self.running: subprocess.Popen[str] | None = None

    def type(self, *words: str, code: int = 0, stdin: str = "") -> str:
        done = typed(("agent", "--data", str(self.folder), *words), self.env, stdin)
        assert done.returncode == code, (words, done)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def json(self, *words: str, code: int = 0):
        return json.loads(self.type(*words, "--json", code=code).strip().splitlines()[-1])

    def register(self, relay: RelayProcess, *friends: str) -> None:
        self.json(
            "register",
            f"{self.name}@{relay.domain}",
            "--relay",
            relay.url,
            "--code",
            self.invited(relay),
            "--plain-keys",
        )
        for friend in friends:
            self.json("contact", f"{friend}@{relay.domain}", "add")

    def invited(self, relay: RelayProcess) -> str:
        done = typed(("relay", "--data", str(relay.folder), "invite", self.name, "--json"), self.env)
        return json.loads(done.stdout)["code"]

    def run(self, *words: str) -> None:
        self.running = subprocess.Popen(
            [TACIT, "agent", "--data", str(self.folder), "run", *words],
            env={**self.env, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        told = self.running.stdout.readline()
        assert "is listening" in told, self.running.communicate(timeout=60)

    def stop(self) -> int | None:
        if self.running is None:
            return None
        self.running.terminate()
        self.running.communicate(timeout=60)
        code, self.running = self.running.returncode, None
        return code

    def question(self, kind: str, *, fetch: bool = False):
        """The open question of a kind, once it is asked."""
        end = time.monotonic() + PATIENCE
        while True:
            if fetch:
                self.json("tick")
            for one in self.json("pending")["questions"]:
                if one["kind"] == kind:
                    return one
            assert time.monotonic() < end, f"{self.name} was never asked for {kind}"

    def state(self, thread: str, *states: str, fetch: bool = False):
        end = time.monotonic() + PATIENCE
        while True:
            if fetch:
                self.json("tick")
            found = self.json("thread", thread)
            if found["state"] in states:
                return found
            assert time.monotonic() < end, f"{found['state']} is not among {states}"


def shared(question) -> list[str]:
    return [word for one in question["fields"] for word in ("--share", one["field"])]


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    process = RelayProcess(tmp_path_factory.mktemp("relay"), free_port())
    process.start()
    yield process
    process.stop()


@pytest.fixture(scope="module")
def people(relay, tmp_path_factory):
    """Anna and Ben, friends, each known to the relay; their agents do not run."""
    home = tmp_path_factory.mktemp("people")
    anna, ben = Owner(home, "anna"), Owner(home, "ben")
    anna.register(relay, "ben")
    ben.register(relay, "anna")
    yield anna, ben
    for one in (anna, ben):
        one.stop()


def free_evening(owner: Owner) -> None:
    owner.json("profile", "timezone=UTC", "dietary=vegetarian", "general_location_area=central Reading")


@pytest.mark.spec("A2ACP-128", "A2ACP-145", "A2ACP-217")
def test_a_dinner_is_arranged_by_commands_to_two_running_agents(people, relay, tmp_path):
    anna, ben = people
    for one in people:
        one.run()
    assert stat.S_IMODE((anna.folder / "agent.sock").stat().st_mode) == 0o600
    for one in people:
        free_evening(one)
    assert anna.json("profile", "budget_range=GBP 30", "budget_range=")["profile"].keys() == {
        "timezone",
        "dietary",
        "general_location_area",
    }
    begun = anna.json("ask", f"dinner with ben on {weekday(3)} evening")
    assert begun.keys() == {"thread_id", "state"}
    assert begun["state"] == "INITIATED"
    thread = begun["thread_id"]

    asked = anna.question("consent")
    assert asked.keys() == QUESTION | {"new_contact", "new_contact_text"}
    assert asked["counterpart"] == f"agent:ben@{relay.domain}"
    # What an owner's own wish needs is ticked already; what others ask for is not.
    assert all(one.keys() - {"ticked"} == FIELD for one in asked["fields"])
    told = anna.type("pending")
    assert f"tacit agent answer {asked['question_id']} --share dietary --share time_windows" in told
    answered = anna.json("answer", asked["question_id"], *shared(asked))
    assert answered == {"thread_id": thread, "state": "INITIATED"}
    # What was answered is answered: an old question moves nothing, and says so.
    again = anna.json("answer", asked["question_id"], *shared(asked), code=1)
    assert again["code"] == "stale_question"
    assert "stale_question" in anna.type("answer", "qst_none", "--confirm", code=1)

    wanted = ben.question("consent")
    assert (
        ben.json("answer", wanted["question_id"], "--share", "time_windows", "--decline", "dietary")[
            "thread_id"
        ]
        == thread
    )
    for one in people:
        proposed = one.question("checkpoint")
        assert proposed.keys() - {"about", "new_contact", "new_contact_text"} == QUESTION
        assert proposed["proposal"]["details"]["event_type"] == "dinner"
        assert {"confirm", "refuse", "excuse again", "excuse leave"} <= set(proposed["choices"])
        # The wrong words for a question change nothing of it.
        assert one.json("answer", proposed["question_id"], "--choose", "1", code=1)["code"] == "bad_answer"
        assert "--confirm" in one.type("pending")
        one.json("answer", proposed["question_id"], "--confirm")
    for one in people:
        ended = one.state(thread, "COMPLETED")
        assert ended.keys() >= THREAD
        assert {(each["executor"], each["status"]) for each in ended["actions"]} >= {("us", "done")}
        assert (one.folder / "calendar.ics").read_text("utf-8").count("BEGIN:VEVENT") == 1
        assert ended["intent"]["summary"] in one.type("thread", thread)
    _receipts(anna, ben, thread, relay)
    for one in people:
        assert one.stop() == 0
        assert not (one.folder / "agent.sock").exists()


def _receipts(anna: Owner, ben: Owner, thread: str, relay: RelayProcess) -> None:
    """What is to be seen of it afterwards."""
    assert anna.json("threads") == {"threads": []}
    every = anna.json("threads", "--all")["threads"]
    assert [one["state"] for one in every if one["thread_id"] == thread] == ["COMPLETED"]
    assert anna.type("threads") == "nothing is being arranged\n"
    assert "completed" in anna.type("threads", "--all")
    receipts = ben.json("disclosures", f"anna@{relay.domain}")["disclosures"]
    assert all(one.keys() == RECEIPT for one in receipts)
    assert {one["field"]: one["basis"] for one in receipts}["time_windows"] == "user_approved"
    assert "dietary" not in {one["field"] for one in receipts}
    assert ben.json("disclosures", "nobody@elsewhere.example") == {"disclosures": []}
    proposal = {one["field"]: one["value"] for one in anna.json("disclosures")["disclosures"]}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", proposal["date"])
    assert "you said yes" in anna.type("disclosures")
    assert anna.json("why", thread).keys() == {"thread_id", "excluded"}
    told = [one["code"] for one in anna.json("notices")["notices"] if one["thread_id"] == thread]
    assert told == ["completed"]
    assert "is done" in anna.type("notices")


def test_without_a_running_agent_each_command_is_the_agent_for_a_moment(people):
    anna, ben = people
    for one in people:
        free_evening(one)
        assert not (one.folder / "agent.sock").exists()
    thread = anna.json("ask", "lunch with ben next Tuesday", "--urgent")["thread_id"]
    assert anna.json("thread", thread)["flags"] == ["urgent"]
    asked = anna.question("consent")
    anna.json("answer", asked["question_id"], *shared(asked))
    wanted = ben.question("consent", fetch=True)
    assert ben.json("tick") == {"open": 1, "pending": 1}
    ben.json("answer", wanted["question_id"], *shared(wanted))
    proposed = anna.question("checkpoint", fetch=True)
    # A word in between: it is negotiated again, and the old proposal's question is gone.
    seen = ben.question("checkpoint", fetch=True)
    assert ben.json("answer", seen["question_id"], "--excuse", "leave") == {
        "thread_id": thread,
        "state": "DECLINED",
    }
    assert anna.state(thread, "DECLINED", fetch=True)["closed_reason"]
    assert anna.json("answer", proposed["question_id"], "--confirm", code=1)["code"] == "stale_question"


def test_a_thread_can_be_changed_divided_and_stopped(people):
    anna, _ = people
    free_evening(anna)
    thread = anna.json("ask", f"dinner with ben on {weekday(4)} evening")["thread_id"]
    asked = anna.question("consent")
    anna.json("answer", asked["question_id"], "--decline-all")
    changed = anna.json("change", thread, f"lunch with ben on {weekday(4)}", "--scope", "changed")
    assert changed["thread_id"] == thread
    assert anna.json("thread", thread)["intent"]["summary"].startswith("Lunch")
    forked = anna.json(
        "fork", thread, f"dinner with ben on {weekday(4)} evening", f"lunch with ben on {weekday(5)}"
    )
    children = [one["thread_id"] for one in forked["threads"]]
    assert len(set(children)) == 2
    assert anna.json("thread", thread)["state"] == "COMPLETED"
    assert anna.json("stop", children[0]) == {"thread_id": children[0], "state": "DECLINED"}
    assert anna.json("resume", children[0], code=1)["code"] == "thread_ended"
    assert anna.json("resume", children[1])["thread_id"] == children[1]
    assert anna.json("stop", children[1])["state"] == "DECLINED"
    assert anna.json("thread", "thr_none", code=1)["code"] == "unknown_thread"
    assert anna.json("ask", "dinner with somebody on Friday", code=1)["code"] == "who"
    assert anna.json("ask", "qwertz", "--to", "ben@localhost:1", code=1)["code"] == "unclear_request"
    unread = anna.json("ask", "dinner with ben and Carol on Friday", "--to", "ben@localhost:1", code=1)
    assert "“and Carol”" in unread["message"]


@pytest.mark.spec("A2ACP-119")
def test_settings_are_shown_changed_and_refused(people, tmp_path, relay):
    anna, _ = people
    shown = anna.json("permissions")
    assert shown.keys() == {"always_share", "ask_first", "never_share", "onward_fields", "overrides"}
    ben = f"ben@{relay.domain}"
    assert anna.json("permissions", "dietary", "always", "--for", ben)["overrides"][f"agent:{ben}"][
        "promote_to_always_share"
    ] == ["dietary"]
    assert f"for {ben} alone:" in anna.type("permissions")
    assert anna.json("permissions", "dietary", "ask", "--for", ben)
    anna.type("permissions", "dietary", code=2)
    # What is never shared is released by its name alone, typed out.
    anna.type("permissions", "health_info", "always", code=1, stdin="yes\n")
    assert "health_info" in anna.json("permissions")["never_share"]
    shown = anna.type("permissions", "health_info", "always", stdin=" health_info \n")
    assert f"for {ben} alone:" not in shown, "nothing differs for him any more"
    assert "health_info" in anna.json("permissions")["always_share"]
    anna.json("permissions", "health_info", "never")
    assert "health_info" in anna.json("permissions")["never_share"]
    assert anna.json("autonomy") == {"autonomy": "low", "implicit_consent": "prompt_once"}
    assert anna.json("autonomy", "medium")["autonomy"] == "medium"
    assert anna.json("autonomy", "low", "--implicit", "prompt_once")["autonomy"] == "low"
    assert anna.json("profile", "timezone=Mars/Base", code=1)["code"] == "bad_timezone"
    anna.type("profile", "no pair", code=2)
    (tmp_path / "mine.ics").write_text("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
    (tmp_path / "password").write_text("secret\n")
    mine = str(tmp_path / "mine.ics")
    added = anna.json("calendar", "add", "mine", "ics", mine, "--write")
    assert added == {"calendars": ["mine"], "days": 30, "busy_times": 0, "notices": []}
    assert "is it the calendar you mean?" in anna.type(
        "calendar", "add", "mine", "ics", f"'{mine}'", "--write"
    )
    anna.type("calendar", "add", "work", "caldav", "http://localhost:1/", code=2)
    login = ("--user", "anna", "--password-file", str(tmp_path / "password"))
    anna.type("calendar", "add", "work", "caldav", "http://localhost:1/", *login, code=3)
    assert (
        anna.json("calendar", "add", "work", "caldav", "localhost:1", *login, code=1)["code"]
        == "bad_calendar_url"
    )
    for where, code in (
        ("https://cal.example/a.ics", "bad_calendar_path"),
        (str(tmp_path / "none.ics"), "calendar_unreadable"),
        (str(tmp_path / "password"), "calendar_unreadable"),
    ):
        assert anna.json("calendar", "add", "work", "ics", where, code=1)["code"] == code
    (tmp_path / "work.ics").write_bytes((tmp_path / "mine.ics").read_bytes())
    anna.type("calendar", "add", "work", "ics", str(tmp_path / "work.ics"))
    (tmp_path / "work.ics").unlink()
    listed = {one["name"]: one["readable"] for one in anna.json("calendar", "list")["calendars"]}
    assert listed == {"calendar.ics": True, "mine": True, "work": False}
    shown = anna.type("calendar", "list")
    assert "- work (ics)" in shown
    assert "there is no file" in shown
    assert "work" in anna.type("calendar", "remove", "work")
    assert anna.json("calendar", "remove", "work", code=1)["code"] == "unknown_calendar"
    assert anna.json("calendar", "add", "mine", "ics", mine, "--write")["calendars"] == ["mine"]
    assert anna.json("action", "add", "entry", "calendar", "mine") == {"actions": ["entry"]}
    assert anna.json("action", "add", "x", "calendar", "none", code=1)["code"] == "unknown_calendar"
    assert "book" in anna.json("action", "add", "book", "webhook", "http://localhost:1/book")["actions"]
    assert "say" in anna.json("action", "add", "say", "command", "echo", "-n", "hello", "--final")["actions"]
    anna.type("answer", "qst_x", "--counter", "time", code=2)


def test_an_agent_that_is_not_registered_or_in_use_says_so(people, tmp_path):
    nobody = Owner(tmp_path, "nobody")
    assert nobody.json("ask", "dinner with ben on Friday", code=1)["code"] == "no_identity"
    anna, _ = people
    anna.run()
    try:
        # A second one on the same folder: one agent for a folder.
        assert "unavailable" in anna.type("run", code=3) or "in use" in anna.type("run", code=3)
        assert anna.json("pending")["questions"] is not None
    finally:
        assert anna.stop() == 0


@pytest.mark.spec("A2ACP-008", "A2ACP-272")
def test_one_command_shows_a_whole_dinner_without_network_or_model(tmp_path):
    somebody = Owner(tmp_path, "somebody")
    somebody.env |= {"TMPDIR": str(tmp_path / "tmp"), "https_proxy": "http://127.0.0.1:9"}
    (tmp_path / "tmp").mkdir()
    steps = [json.loads(line) for line in somebody.type("demo", "--json").splitlines()]
    assert list((tmp_path / "tmp").iterdir()) == []
    by_kind = [one["step"] for one in steps]
    assert by_kind[:3] == ["began", "knows", "says"]
    assert by_kind[-1] == "ended"
    asked = [(one["who"], one["question"]["kind"]) for one in steps if one["step"] == "asked"]
    assert asked == [("alice", "consent"), ("bob", "consent"), ("alice", "checkpoint"), ("bob", "checkpoint")]
    sent = [one["type"] for one in steps if one["step"] == "sent"]
    assert sent[:3] == ["context", "context_response", "resolution"]
    entries = next(one for one in steps if one["step"] == "calendar")["entries"]
    assert entries["alice"] == entries["bob"]
    assert "19:00-20:30" in entries["alice"]["when"]
    left = next(one for one in steps if one["step"] == "left")["people"]
    assert set(left["alice"]["stayed"]) >= {"budget_range", "home_address"}
    assert "health_info" in left["bob"]["stayed"]
    assert "Dr Rao" not in json.dumps([one for one in steps if one["step"] in {"sent", "asked"}])


def test_the_demo_can_be_kept_and_looked_at(tmp_path):
    kept = tmp_path / "kept"
    somebody = Owner(tmp_path, "somebody")
    shown = somebody.type("demo", "--keep", str(kept))
    for words in ("What left Alice", "What stayed: budget", "✓ in the calendar", "proposal ─▶", "◀─ answer"):
        assert words in shown
    assert max(map(len, shown.splitlines()[5:40])) <= 120
    alice = Owner(kept, "alice")
    assert [one["state"] for one in alice.json("threads", "--all")["threads"]] == ["COMPLETED"]
    assert "already" in somebody.type("demo", "--keep", str(kept), code=2)


@pytest.mark.spec("A2ACP-054", "A2ACP-178", "A2ACP-179")
def test_one_command_shows_the_game_night_in_which_only_charlie_is_asked_to_bend(tmp_path, capsys):
    somebody = Owner(tmp_path, "somebody")
    played = typed(("agent", "demo", "--people", "4", "--json"), somebody.env, limit=300)
    assert played.returncode == 0, played.stderr
    steps = [json.loads(line) for line in played.stdout.splitlines()]

    def of(kind, *names):
        return [one for one in steps if one["step"] == kind and (not names or one["who"] in names)]

    asked = {name: [] for name in ("alice", "bob", "charlie", "diana")}
    for one in of("asked"):
        asked[one["who"]].append(one["question"]["kind"])
    assert asked == {
        "alice": ["consent", "checkpoint"],
        "bob": ["consent", "checkpoint"],
        "charlie": ["consent", "escalation", "checkpoint"],
        "diana": ["consent", "checkpoint"],
    }
    first, last = of("sums")
    charlie = next(one for one in of("began")[0]["people"] if one.startswith("agent:charlie@"))
    assert [(one["available_count"], one["missing"]) for one in first["windows"]] == [(3, [charlie])] * 2
    assert first["binding"]["agent"] == charlie
    # All four beat the longer evening with three.
    assert [(one["available_count"], one["missing"]) for one in last["windows"]] == [(4, []), (3, [charlie])]
    assert "but is 60 minutes shorter" in last["trade_off"]
    told = [one for one in of("sent", "alice") if "availability_overlap" in one["left"]]
    assert [one["to"] for one in told] == ["charlie"]
    entries = of("calendar")[0]["entries"]
    assert len(entries) == 4
    assert len({one["when"] for one in entries.values()}) == 1
    left = of("left")[0]["people"]
    assert [set(left[name]["stayed"]) >= {field} for name, field in PRIVATE.items()] == [True] * 4
    screen = TalkScreen()
    for one in steps[:-1]:
        screen.step(one)
    screen.end(None)
    shown = capsys.readouterr().out
    for words in (
        "─▶ bob, charlie, diana: proposal",
        "Charlie is asked, nobody else",
        "4 of 4",
        "then; I move",
    ):
        assert words in shown
    assert max(map(len, shown.splitlines())) <= 120


@pytest.mark.parametrize("today", range(7))
def test_the_days_of_the_game_night_are_meant_whatever_day_it_is_shown_on(today):
    now = datetime(2026, 3, 23, 20, 15, tzinfo=ZoneInfo(ZONE)) + timedelta(days=today)
    days = [now + timedelta(days=DAYS_AHEAD + later) for later in (0, 1)]
    text = wish(*(f"{one:%A}" for one in days))
    moment = Moment(int(now.timestamp()) * SECOND)
    goal = asyncio.run(Rules(read_windows).think(Task(READ_REQUEST, moment, ZONE, text=text))).goal
    starts = [datetime.fromtimestamp(one.start / SECOND, ZoneInfo(ZONE)).date() for one in goal.spans]
    assert starts == [one.date() for one in days]


def test_help_shows_every_command_in_a_section(tmp_path):
    from tacit.agent.shell.commands.help import SECTIONS
    from tacit.agent.shell.commands.main import agent

    listed = [name for section in SECTIONS.values() for name in section]
    assert sorted(listed) == sorted(agent.places)
    shown = Owner(tmp_path, "somebody").type("--help")
    assert [title for title in SECTIONS if f"\n{title}:\n" in shown] == list(SECTIONS)


def test_the_schema_of_a_type_is_printed_and_an_unknown_type_is_refused(tmp_path):
    printed = typed(("agent", "schema", "resolution", "--sent"), dict(os.environ))
    assert json.loads(printed.stdout)["properties"]["type"] == {"const": "resolution"}
    refused = typed(("agent", "schema", "hologram"), dict(os.environ))
    assert refused.returncode == 1
    assert "unknown_type" in refused.stderr


@pytest.mark.spec("A2ACP-143")
def test_a_proposal_is_shown_by_what_a_yes_confirms_and_its_words_are_a_quotation():
    details = {"date": "2026-03-27", "time": "19:00+00:00/20:30+00:00", "place": "central Reading"}
    asks = {
        "kind": "checkpoint",
        "question_id": "qst_1",
        "thread_id": "thr_1",
        "asked_at": "2026-03-23T09:00:00Z",
        "counterpart": "agent:ben@relay.example",
        "fields": [],
        "choices": [],
        "proposal": {
            "summary": "Dinner on Saturday at noon, at Luigi",
            "details": details,
            "alternatives": [{"summary": "Sunday 18:00", "details": {**details, "date": "2026-03-28"}}],
            "actions": [],
            "by": "them",
        },
    }
    question = msgspec.convert(asks, QuestionResult)
    shown = "\n".join(arrange_show.question(question))
    assert shown.index("Fri 27 Mar 19:00-20:30 +00:00") < shown.index(
        "“Dinner on Saturday at noon, at Luigi”"
    )
    assert "--alternative 0: Sat 28 Mar 19:00-20:30 +00:00; place: central Reading “Sunday 18:00”" in shown
    card = "\n".join(
        "".join(text for _, text in line) for line in card_show.shown(agent_card.begun(question), 200)
    )
    assert card.index("Fri 27 Mar 19:00-20:30 +00:00") < card.index("“Dinner on Saturday")
    assert "instead: Sat 28 Mar" in card
    assert arrange_show.offer({"time": "18:00+00:00/21:00+05:00"}) == "18:00 +00:00 - 21:00 +05:00"
    assert arrange_show.offer({"time": "19:00/21:00", "timezone": "Asia/Tokyo"}) == "19:00/21:00 Asia/Tokyo"
