"""The first minute: what is asked, what Enter keeps, and where it goes."""

from __future__ import annotations

import pytest

from tacit.a2acp.consent import tiers
from tacit.a2acp.consent.tiers import DEFAULT, Tier
from tacit.a2acp.post.io.store import AgentStore
from tacit.agent import Agent
from tacit.agent.owner import onboarding
from tacit.agent.owner.io import setting_up
from tacit.agent.shell.io import calls
from tacit.base.errors import Refused
from tacit.base.io.time_service import TimeService
from tests.agent.arrangements import registered
from tests.relay_support import Relay


@pytest.mark.spec("A2ACP-231", "A2ACP-233", "A2ACP-120")
def test_five_switches_stand_for_their_fields_and_unchanged_they_are_the_defaults():
    assert {one.label: one.fields for one in onboarding.SWITCHES} == {
        "availability": ("general_availability", "specific_availability"),
        "area": ("general_location_area",),
        "dietary": ("dietary",),
        "budget": ("budget_range",),
        "location": ("specific_location",),
    }
    levels = {one.label: onboarding.level(DEFAULT, one) for one in onboarding.SWITCHES}
    assert levels == {
        "availability": "ask",
        "area": "always",
        "dietary": "ask",
        "budget": "ask",
        "location": "ask",
    }
    assert onboarding.settled(DEFAULT, levels) is DEFAULT
    assert tiers.tier(DEFAULT, "timezone", "") is Tier.ALWAYS


@pytest.mark.spec("A2ACP-231", "A2ACP-233")
@pytest.mark.parametrize("switch", onboarding.SWITCHES, ids=lambda one: one.label)
@pytest.mark.parametrize("wanted", onboarding.LEVELS)
def test_a_switch_moves_all_its_fields_and_no_other(switch, wanted):
    after = onboarding.settled(DEFAULT, {switch.label: wanted})
    assert onboarding.level(after, switch) == wanted
    for name in switch.fields:
        assert tiers.tier(after, name, "agent:ben@relay.example") == wanted
    others = [one for one in onboarding.SWITCHES if one is not switch]
    assert [onboarding.level(after, one) for one in others] == [
        onboarding.level(DEFAULT, one) for one in others
    ]


def test_where_the_fields_of_a_switch_differ_it_stands_at_the_strictest():
    policy = tiers.changed(DEFAULT, "general_availability", Tier.ALWAYS)
    assert onboarding.level(policy, onboarding.SWITCHES[0]) == "ask"
    policy = tiers.changed(policy, "specific_availability", Tier.NEVER)
    assert onboarding.level(policy, onboarding.SWITCHES[0]) == "never"
    # What was never to leave is not let out by a switch alone.
    with pytest.raises(Refused, match="typed confirmation"):
        onboarding.settled(policy, {"availability": "ask"})
    assert (
        onboarding.level(
            onboarding.settled(policy, {"availability": "ask"}, confirmed=True), onboarding.SWITCHES[0]
        )
        == "ask"
    )


@pytest.mark.parametrize("chosen", [{"health": "always"}, {"area": "sometimes"}, {"area": ""}])
def test_an_unknown_switch_or_level_is_refused(chosen):
    with pytest.raises(Refused) as refused:
        onboarding.settled(DEFAULT, chosen)
    assert refused.value.code == "bad_switch"


@pytest.mark.spec("A2ACP-230")
@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (["Europe/London", "", ""], "Europe/London"),
        ([":Europe/Paris"], "Europe/Paris"),
        (["<+03>-3", "/usr/share/zoneinfo/Asia/Tokyo"], "Asia/Tokyo"),
        (["", "../usr/share/zoneinfo/posix/America/New_York"], "America/New_York"),
        (["", "/somewhere/localtime", "Africa/Cairo\n"], "Africa/Cairo"),
        (["", "", "Mars/Base\n"], ""),
        (["/etc/passwd", "..", "\ufffd"], ""),
        (["CET", "/usr/share/zoneinfo/localtime", "Europe/Berlin\n"], "Europe/Berlin"),
    ],
)
def test_the_timezone_is_what_the_device_says_first(sources, found):
    assert onboarding.zone(sources, setting_up.is_zone) == found


@pytest.mark.spec("A2ACP-230")
def test_the_device_is_asked_for_its_timezone(tmp_path, monkeypatch):
    (tmp_path / "etc").mkdir()
    monkeypatch.delenv("TZ", raising=False)
    assert setting_up.detected_zone(tmp_path) == ""
    (tmp_path / "etc" / "timezone").write_text("Africa/Cairo\n")
    assert setting_up.detected_zone(tmp_path) == "Africa/Cairo"
    (tmp_path / "etc" / "localtime").symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    assert setting_up.detected_zone(tmp_path) == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "Europe/London")
    assert setting_up.detected_zone(tmp_path) == "Europe/London"


@pytest.mark.spec("A2ACP-230")
@pytest.mark.parametrize(
    ("profile", "device", "shown"),
    [
        ({"timezone": "Asia/Tokyo"}, "Africa/Cairo", "Asia/Tokyo"),
        ({}, "Africa/Cairo", "Africa/Cairo"),
        ({"timezone": ""}, "", "UTC"),
        ({}, "", "UTC"),
    ],
)
def test_the_timezone_shown_is_the_owners_else_the_devices_else_that_of_the_world(
    monkeypatch, profile, device, shown
):
    monkeypatch.setattr(setting_up, "detected_zone", lambda: device)
    found = setting_up.shown(profile, DEFAULT, done=False)
    assert [one["value"] for one in found["prompts"] if one["key"] == "timezone"] == [shown]


@pytest.mark.spec("A2ACP-230", "A2ACP-231")
async def test_what_is_said_is_kept_at_once_and_enter_keeps_the_defaults(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/London")
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        shown = await calls.call(anna, "setup", {})
        assert shown["done"] is False
        assert {one["key"]: one["value"] for one in shown["prompts"]} == {
            "name": None,
            "general_location_area": None,
            "timezone": "Europe/London",
        }
        assert [one["level"] for one in shown["switches"]] == ["ask", "always", "ask", "ask", "ask"]
        with pytest.raises(Refused, match="timezone is a name"):
            await calls.call(anna, "setup", {"save": True, "profile": {"timezone": "Mars/Base"}})
        with pytest.raises(Refused, match="120 plain signs"):
            await calls.call(anna, "setup", {"save": True, "profile": {"name": "x" * 121}})
        assert anna.outside.profile() == {}
        saved = await calls.call(anna, "setup", {"save": True})
        assert saved["done"] is True
    async with Agent(tmp_path / "anna") as anna:
        assert anna.outside.profile() == {"timezone": "Europe/London"}
        assert anna.outside.policy() == DEFAULT
        said = {"profile": {"name": " Anna\tM ", "timezone": "Asia/Tokyo"}, "switches": {"dietary": "always"}}
        await calls.call(anna, "setup", {"save": True, **said})
        assert anna.outside.profile() == {"timezone": "Asia/Tokyo", "name": "Anna M"}
        assert tiers.tier(anna.outside.policy(), "dietary", "") is Tier.ALWAYS


async def test_what_was_said_before_there_was_an_address_is_taken_when_there_is_one(tmp_path):
    (tmp_path / "anna").mkdir()
    store = AgentStore(tmp_path / "anna")
    setting_up.keep_for_later(store, {"profile": {"name": "Anna"}, "switches": {"area": "never"}})
    with pytest.raises(Refused):
        setting_up.keep_for_later(store, {"switches": {"area": "perhaps"}})
    store.close()
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    for _ in range(2):
        async with Agent(tmp_path / "anna", clock=TimeService()) as anna:
            assert anna.outside.profile()["name"] == "Anna"
            assert tiers.tier(anna.outside.policy(), "general_location_area", "") is Tier.NEVER
            assert setting_up.kept_for_later(anna.post.store) == {}
            # A counterpart could not read it.
            for name in ("localtime", "CET", "Mars/Base", ""):
                with pytest.raises(Refused, match="such as Europe/London"):
                    await anna.profile({"timezone": name})
            # It is taken once: what the owner says later stands.
            await anna.profile({"name": "Anna"})
