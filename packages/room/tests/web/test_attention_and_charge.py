"""Attention made visible, and people in charge (issue parts 2 and 3)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture
def snapshot(hub: HubProcess) -> Iterator[dict[str, Any]]:
    """A fresh room with three agents, two of them connected."""
    group = hub.group("Attention")
    tokens = {
        "ada": hub.actor(group, "ada", roles=["backend"]),
        "bob": hub.actor(group, "bob", roles=["backend"]),
        "lin": hub.actor(group, "lin", roles=["docs"]),
    }
    with Agent(hub, tokens["ada"]) as ada, Agent(hub, tokens["bob"]) as bob, Agent(hub, tokens["lin"]) as lin:
        yield {"group": group, "ada": ada, "bob": bob, "lin": lin, "tokens": tokens}


def message(page, text: str):
    """A message that the hub has confirmed: one on its way has no strip and no tools yet."""
    return page.locator(".main article.message[data-event]", has_text=text)


def test_the_line_under_the_composer_says_what_sending_will_do(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"])
    area = page.locator(".main .composer textarea")
    area.fill("@ada which branch do we release from?")
    expect(page.locator(".will")).to_have_text("ada must reply; 2 others stay quiet")
    area.fill("lunch was good today")
    expect(page.locator(".will")).to_have_text("everyone stays quiet")
    area.fill("@backend who has time for a review?")
    expect(page.locator(".will")).to_contain_text("ada or bob may take it")


@pytest.mark.spec("C2A-077")
def test_a_question_without_a_name_says_who_may_take_it_and_goes_to_one_at_once(
    visit: Visits, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    area = page.locator(".main .composer textarea")
    area.fill("@zoe can you check the build?")
    expect(page.locator(".will .warns")).to_have_text(
        "Nobody here is called zoe. ada, bob or lin may take it."
    )
    area.fill("does anyone know why staging is slow?")
    expect(page.locator(".will")).to_have_text("Nobody is named. ada, bob or lin may take it.")
    expect(page.locator(".will .warns")).to_have_count(0)
    page.keyboard.press("Enter")
    strip = message(page, "staging is slow").first.locator(".strip")
    expect(strip).to_contain_text("was notified")


def test_a_question_shows_who_owes_who_works_and_who_answered(visit: Visits, snapshot, write) -> None:
    page = visit(snapshot["group"])
    write(page, "@ada which branch do we release from?")
    strip = message(page, "which branch").first.locator(".strip")
    expect(strip).to_contain_text("ada owes a reply")
    expect(strip).to_contain_text("2 others stay quiet")
    asked = snapshot["ada"].delivery()
    snapshot["ada"].note(
        "notifications/progress",
        progressToken=asked["eventId"],
        eventId=asked["eventId"],
        progress=40,
        total=100,
        message="reading the tags",
    )
    expect(strip.locator("progress")).to_have_attribute("value", "40")
    expect(strip).to_contain_text("reading the tags")
    snapshot["ada"].call(
        "chat.send_message",
        target=asked["replyTarget"],
        inReplyTo=asked["eventId"],
        content="From release/2.0.",
        idempotencyKey="k1",
        visibility="channel",
        directedness="to_other",
    )
    expect(message(page, "From release/2.0.").first).to_be_visible()
    expect(strip).to_contain_text("ada answered")


@pytest.mark.spec("C2A-226")
def test_what_must_not_be_answered_shows_nothing_and_a_receipt_becomes_its_glyph(
    visit: Visits, hub: HubProcess, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    write(page, "lunch was good today")
    quiet = message(page, "lunch was good").locator(".strip")
    expect(quiet).to_have_text("all 3 agents stay quiet")
    page.mouse.move(5, 5)
    expect(quiet).to_have_css("opacity", "1")  # the writer sees at once why nobody answers
    hub.say(snapshot["group"], "we had soup", snapshot["tokens"]["lin"])
    expect(message(page, "we had soup").locator(".strip")).to_have_css("opacity", "0")
    page.get_by_role("button", name="Ask for acknowledgement").click()
    write(page, "the freeze starts at noon")
    strip = message(page, "freeze starts at noon").locator(".strip")
    expect(strip).to_contain_text("receipt")
    event = hub.events(snapshot["group"], kinds="chat.message")[-1]
    snapshot["ada"].call("chat.react", inReplyTo=event["id"], signal="agree")
    expect(strip).to_contain_text("ada \U0001f44d")
    message(page, "freeze starts").locator(".strip-line").click()
    inspector = page.locator(".inspector")
    expect(inspector.locator(".decision")).to_have_count(3)
    expect(inspector.locator(".decision", has_text="bob")).to_contain_text("receipt only")
    message(page, "lunch was good").locator(".strip-line").click()
    expect(page.locator(".inspector .quiet-rest")).to_contain_text("Every agent")


def test_the_inspector_names_aim_policy_mode_rule_and_bytes(visit: Visits, snapshot, write) -> None:
    page = visit(snapshot["group"])
    write(page, "@bob please look at the index")
    snapshot["bob"].delivery()
    message(page, "look at the index").locator(".strip-line").click()
    card = page.locator(".inspector .decision", has_text="bob")
    expect(card).to_contain_text("must answer")
    expect(card).to_contain_text("named")
    expect(card).to_contain_text("after the compose window")
    expect(card.locator("code")).not_to_be_empty()
    expect(page.locator(".inspector .sums")).to_contain_text("prompt saved")
    expect(page.locator(".inspector .verdict")).to_contain_text("bob owes a reply")
    expect(page.locator(".inspector .quiet-rest")).to_contain_text("must not answer")


def test_a_person_stops_an_agent_and_gives_the_question_to_another(visit: Visits, snapshot, write) -> None:
    page = visit(snapshot["group"])
    write(page, "@ada please tidy the backlog")
    snapshot["ada"].delivery()
    said = message(page, "tidy the backlog")
    said.locator(".strip-line").click()
    page.get_by_role("button", name="Give to another").click()
    page.locator(".choices").get_by_role("button", name="bob").click()
    expect(said.locator(".strip")).to_contain_text("bob owes a reply")
    assert snapshot["bob"].delivery()["policy"] == "must_respond"
    page.locator(".decision", has_text="bob").get_by_role("button", name="Stop").click()
    expect(said.locator(".strip")).to_contain_text("called off")


def test_an_agent_that_would_reveal_private_talk_waits_for_a_tap(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"])
    secret = "the budget for the second quarter is four hundred thousand and not a cent more"
    hub.say(snapshot["group"], f"@ada {secret}, is that enough for the plan?", to=["ada"])
    asked = snapshot["ada"].delivery()
    refused = snapshot["ada"].call(
        "chat.send_message",
        target="conversation:main",
        content=f"I was told that {secret}",
        idempotencyKey="leak",
        visibility="channel",
        directedness="ambient",
        inReplyTo=asked["eventId"],
    )
    assert refused["error"]["data"]["code"] == "approval_required"
    card = page.locator(".approval")
    expect(card).to_contain_text("ada asks for permission")
    expect(card).to_contain_text("second quarter")
    card.get_by_role("button", name="Refuse").click()
    expect(card).to_have_count(0)
    answered = hub.events(snapshot["group"], kinds="x.c2a.approval")[-1]
    assert (answered["data"]["state"], answered["data"]["answered_by"]) == ("denied", "user")


def test_who_is_online_and_busy_is_seen_and_an_agent_is_asked_to_leave(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"])
    snapshot["bob"].note("notifications/status", status="busy", detail="running the tests")
    expect(page.locator(".sidebar .entry", has_text="bob").locator(".dot.busy")).to_be_visible()
    page.get_by_role("link", name="People").click()
    card = page.locator(".card", has_text="@bob")
    expect(card).to_contain_text("running the tests")
    card.get_by_role("button", name="Ask to leave").click()
    expect(page.locator(".toast")).to_contain_text("asked to leave")
    left = hub.events(snapshot["group"], kinds="x.c2a.membership")[-1]
    assert (left["data"]["session"], left["data"]["action"]) == ("bob", "leave")


WORDS = ("alpha", "bravo", "carol", "delta", "echoes", "foxes", "golfs", "hotels", "indigo", "julia")


def argue(snapshot: dict[str, Any]) -> list[str]:
    """Ada, who was asked, and bob ask each other one thing after another until the hub refuses; the ids of it."""
    pair = (snapshot["ada"], snapshot["bob"])
    last = snapshot["ada"].delivery()["eventId"]
    thread, said = f"thread:{last}", [last]
    for turn, word in enumerate(WORDS):
        sent = pair[turn % 2].call(
            "chat.send_message",
            target=thread,
            inReplyTo=said[-1],
            content=f"And what about {word} number {turn}?",
            mentions=[f"agent:{('bob', 'ada')[turn % 2]}"],
            idempotencyKey=f"argue:{thread}:{turn}",
            visibility="thread",
            directedness="to_me",
        )
        if "error" in sent:
            assert sent["error"]["data"]["code"] == "loop_stopped", (turn, sent)
            return said
        said.append(sent["result"]["eventId"])
    pytest.fail("nobody stopped them")


@pytest.mark.spec("C2A-198", "C2A-199")
def test_two_agents_that_go_in_circles_are_stopped_and_a_person_sees_it_looks_and_lets_them_go_on(
    visit: Visits, hub: HubProcess, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    write(page, "@ada please argue with bob")
    said = argue(snapshot)
    notice = page.locator(".notice.loop")
    expect(notice).to_have_count(1)
    expect(notice).to_contain_text("Two agents went in circles")
    expect(page.locator(".head-tools .badge.asks")).to_have_text("1")
    notice.get_by_role("button", name="Show the message").click()
    expect(page.locator(".main article.selected")).to_have_attribute("data-event", said[-1])
    expect(page.locator(".main article.selected .strip")).to_contain_text("was stopped here")
    notice.get_by_role("button", name="Acknowledge").click()
    expect(notice).to_contain_text("acknowledged by You")
    expect(page.locator(".head-tools .badge.asks")).to_have_count(0)
    notice.get_by_role("button", name="Reply in their thread").click()
    write(page, "@bob go on then, what is it in the end?", ".panel")
    asked = snapshot["bob"].delivery()
    while "in the end" not in json.dumps(asked):
        asked = snapshot["bob"].delivery()
    assert "error" not in snapshot["bob"].reply(asked, "It is forty-two.")
    expect(page.locator(".panel article.message", has_text="It is forty-two.")).to_be_visible()


def test_a_notice_to_one_person_is_acknowledged_by_that_person(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    ben = visit(snapshot["group"], hub.person(snapshot["group"], "ben"))
    hub.append(
        snapshot["group"],
        "system.notify",
        {
            "kind": "deploy",
            "priority": "high",
            "title": "It needs your decision.",
            "requires_ack": True,
            "target_actor_id": "usr:ben",
        },
    )
    mine = ben.locator(".notice", has_text="It needs your decision.")
    mine.get_by_role("button", name="Acknowledge").click()
    expect(mine).to_contain_text("acknowledged by")


def test_an_agent_is_added_with_commands_to_copy_and_its_tokens_are_issued_and_revoked(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("button", name="Add an agent").first.click()
    page.get_by_label("Name, as others will write it after @").fill("zed")
    page.get_by_label("Roles it can be called by").fill("qa, docs")
    page.keyboard.press("Enter")
    command = page.locator(".commands .object")
    expect(command).to_contain_text("--as zed --driver codex")
    page.get_by_role("tab", name="Claude Code").click()
    expect(command).to_contain_text("--driver claude")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("link", name="People").click()
    card = page.locator(".card", has_text="@zed")
    expect(card.locator(".roles")).to_contain_text("qa")
    card.locator("summary").click()
    expect(card.locator(".tokens li")).to_have_count(1)
    card.get_by_role("button", name="Issue a token").click()
    token = card.locator(".fresh code").inner_text()
    assert hub.call("GET", "/v1/whoami", token=token)["principal"] == "zed"
    expect(card.locator(".tokens li")).to_have_count(2)
    card.get_by_role("button", name="Revoke").first.click()
    expect(card.get_by_role("button", name="Revoke")).to_have_count(1)
    card.get_by_role("button", name="Revoke").click()
    expect(card.locator(".tokens li")).to_contain_text("No live token")
    assert hub.call_status("GET", "/v1/whoami", token=token) == 401


def test_the_copied_command_brings_an_agent_in_and_it_answers_while_the_others_stay_quiet(
    visit: Visits, snapshot, write, tmp_path: Path
) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("button", name="Add an agent").first.click()
    page.get_by_label("Name, as others will write it after @").fill("echo")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Program").click()
    command = page.locator(".commands .object").inner_text()
    page.get_by_role("button", name="Done").click()
    script = tmp_path / "reply.sh"
    script.write_text("#!/bin/sh\ncat >/dev/null\necho 'You asked, I **answer**.'\n")
    script.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TACIT_HOME": str(tmp_path),
    }
    typed = tmp_path / "typed.sh"
    typed.write_text(command)
    with (tmp_path / "log").open("wb") as log:
        shell = subprocess.Popen(
            ["sh", typed], cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        expect(page.locator(".sidebar .entry", has_text="echo").locator(".dot.online")).to_be_visible(
            timeout=60_000
        )
        write(page, "@echo are you there?")
        answer = page.locator(".main article.message.agent", has_text="You asked, I answer.")
        expect(answer.locator("strong")).to_have_text("answer", timeout=60_000)
        strip = page.locator(".main article.message.person", has_text="are you there?").locator(".strip")
        expect(strip).to_contain_text("echo answered")
        expect(strip).to_contain_text("3 others stay quiet")
    finally:
        os.killpg(shell.pid, signal.SIGTERM)
        shell.wait(20)
