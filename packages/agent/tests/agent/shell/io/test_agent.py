"""The agent's process: what its parts must not do to each other while one of them waits."""

from __future__ import annotations

import asyncio

import pytest

from tacit.agent.consent.answering import Answer
from tacit.agent.contacts.io.first_contact import _ask
from tacit.agent.scheduling.io.outside import Outside
from tacit.agent.shell.io import calls
from tacit.agent.shell.io.agent import Agent
from tacit.base.errors import Refused
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tests.agent.arrangements import registered
from tests.relay_support import Relay


async def test_tidying_up_leaves_alone_what_a_decision_is_about_to_name(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        # The decision has kept its value and waits for the journal when the tidying would begin.
        await asyncio.gather(anna.profile({"dietary": "vegetarian"}), anna.tidy())
        assert anna.outside.profile() == {"dietary": "vegetarian"}
        await anna.profile({"dietary": "vegan"})
        await anna.tidy()
        assert anna.outside.profile() == {"dietary": "vegan"}


async def test_calendars_say_whether_they_can_be_read(tmp_path):
    (tmp_path / "mine.ics").write_text("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        await anna.add_calendar("mine", {"kind": "ics", "path": str(tmp_path / "mine.ics"), "write": True})
        gone = tmp_path / "gone.ics"
        gone.write_bytes((tmp_path / "mine.ics").read_bytes())
        await anna.add_calendar("gone", {"kind": "ics", "path": str(gone)})
        gone.unlink()
        found = {one["name"]: one for one in (await anna.calendars())["calendars"]}
        assert found["mine"] == {
            "name": "mine",
            "kind": "ics",
            "write": True,
            "readable": True,
            "notices": [],
        }
        assert not found["gone"]["readable"]
        assert found["gone"]["notices"]
        assert found["calendar.ics"]["readable"]


NONSENSE = [
    ("add_calendar", {"kind": "ics"}, "bad_calendar"),
    ("add_calendar", {"kind": "exchange", "url": "https://example.com"}, "bad_calendar"),
    ("add_handler", {"kind": "command", "command": ["/bin/true"]}, "bad_action"),
    ("add_handler", {"kind": "command", "argv": []}, "bad_action"),
    ("add_handler", {"kind": "webhook"}, "bad_action"),
    ("add_handler", {}, "bad_action"),
    ("add_handler", {"kind": "calendar", "calendar": "nowhere"}, "unknown_calendar"),
]


async def test_a_calendar_or_an_action_that_could_never_work_is_refused_when_it_is_added(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        for command, definition, code in NONSENSE:
            with pytest.raises(Refused) as refused:
                await calls.call(anna, command, {"name": "mine", "definition": definition})
            assert refused.value.code == code
        assert anna.outside.handlers() == {}
        assert anna.outside.calendar_definitions() == {}


async def test_settings_that_are_changed_at_the_same_moment_are_all_kept(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        await asyncio.gather(
            calls.call(anna, "permissions", {"field": "dietary", "level": "never"}),
            calls.call(anna, "permissions", {"field": "budget_range", "level": "always"}),
            calls.call(anna, "profile", {"changes": {"dietary": "vegan"}}),
            calls.call(anna, "profile", {"changes": {"name": "Anna"}}),
            calls.call(anna, "choose", {"name": "autonomy", "value": "high"}),
            calls.call(anna, "choose", {"name": "implicit_consent", "value": "auto"}),
            calls.call(
                anna, "add_handler", {"name": "a", "definition": {"kind": "command", "argv": ["true"]}}
            ),
            calls.call(
                anna, "add_handler", {"name": "b", "definition": {"kind": "command", "argv": ["true"]}}
            ),
        )
        found = await anna.permissions()
        assert "dietary" in found["never_share"]
        assert "budget_range" in found["always_share"]
        assert (await anna.profile({}))["profile"] == {"dietary": "vegan", "name": "Anna"}
        assert await anna.choose() == {"autonomy": "high", "implicit_consent": "auto"}
        assert set(anna.outside.handlers()) == {"a", "b"}


@pytest.mark.spec("A2ACP-032", "A2ACP-274")
async def test_of_two_faces_that_answer_about_somebody_new_one_wins_and_the_other_is_told(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            peer = f"agent:carl@{relay.domain}"
            await anna.decide(lambda ws: _ask(ws, peer, "thr_new"))
            question = (await anna.pending())["questions"][0]["question_id"]
            done = await asyncio.gather(
                calls.call(anna, "answer", {"question_id": question, "confirm": True, "via": "page"}),
                calls.call(anna, "answer", {"question_id": question, "refuse": True, "via": "terminal"}),
                return_exceptions=True,
            )
            refused = [one for one in done if isinstance(one, Refused)]
            assert [one.code for one in refused] == ["stale_question"]
            known = anna.post.store.contact(peer)
            assert known is not None
            assert known.welcome != known.reputation.blocked


@pytest.mark.spec("A2ACP-269")
async def test_a_message_answers_what_was_asked_before_it_and_nothing_later(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:

            async def asked(name: str) -> str:
                relay.clock.ahead += SECOND
                peer = f"agent:{name}@{relay.domain}"
                await anna.decide(lambda ws: _ask(ws, peer, f"thr_{name}"))
                found = (await anna.pending())["questions"]
                return next(one["question_id"] for one in found if one["thread_id"] == f"thr_{name}")

            async def refused(question: str, via: str) -> str:
                try:
                    await anna.answer(question, Answer(refuse=True, via=via))
                except Refused as fault:
                    return fault.code
                return ""

            one, two = await asked("ben"), await asked("carl")
            assert await refused(one, "message:m1") == ""
            assert await refused(two, "message:m1") == "", "it may be about both"
            three = await asked("dora")
            assert await refused(three, "message:m1") == "message_too_old"
            assert await refused(three, "message:m2") == ""
            four = await asked("emil")
            assert await refused(four, "page") == ""
            five = await asked("fay")
            assert await refused(five, "page") == "", "a page is no message"


@pytest.mark.spec("A2ACP-166")
async def test_what_was_opened_for_the_owners_settings_is_closed_with_them(tmp_path):
    outside = Outside(tmp_path, lambda _name: None, TimeService())
    await outside.close()
    session = outside._session()
    assert outside._session() is session
    assert not session.closed
    await outside.close()
    assert session.closed


@pytest.mark.spec("A2ACP-194")
async def test_what_can_still_be_called_off_with_somebody_is_what_is_open_with_that_one(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben", "carl")
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            begun = {}
            for name in ("ben", "carl"):
                peer = f"agent:{name}@{relay.domain}"
                begun[peer] = (await anna.ask("dinner on Friday evening", [peer]))["thread_id"]
            for peer, thread in begun.items():
                known = await anna.known(peer)
                named = [one["thread_id"] for one in known["can_be_undone"] if one["what"] == "open"]
                assert named == [thread]


@pytest.mark.spec("A2ACP-062")
@pytest.mark.parametrize(
    ("name", "value"), [("autonomy", "boundless"), ("no_such_choice", "high"), ("autonomy", "")]
)
async def test_a_choice_that_is_none_is_refused_and_nothing_is_kept(tmp_path, name, value):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        before = await anna.choose()
        with pytest.raises(Refused, match="bad_choice"):
            await anna.choose(name, value)
        assert await anna.choose() == before
