"""`tacit agent run` serves a page, and `tacit agent page` leads there; without one it says so."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest

from tests.agent.shell.commands.test_arrange import Owner, people, relay

pytestmark = pytest.mark.spec("A2ACP-274")
__all__ = ["people", "relay"]


def signed_in(link: str) -> str:
    """What a page does with a link: the session's token."""
    home, _, secret = link.partition("/q/")
    request = urllib.request.Request(
        f"{home}/agent/open",
        data=json.dumps({"link": secret}).encode(),
        headers={"Content-Type": "application/json", "Origin": home},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["token"]


def test_what_may_be_kept_in_a_log_has_no_link_and_page_prints_one_each_time_that_signs_in(
    people: tuple[Owner, Owner],
) -> None:
    anna, _ = people
    assert anna.json("page", code=1)["code"] == "not_running"
    anna.run()
    try:
        assert anna.running is not None
        assert anna.running.stdout is not None
        # Standard output is no terminal here.
        told = anna.running.stdout.readline()
        assert re.search(r"http://127\.0\.0\.1:\d+/; `tacit agent page` prints a link", told)
        assert "/q/" not in told
        assert signed_in(anna.json("page")["url"]) != signed_in(anna.json("page")["url"])
        assert anna.json("page", "qst_guessed", code=1)["code"] == "stale_question"
    finally:
        assert anna.stop() == 0


def test_a_page_that_is_not_wanted_is_not_served_and_a_port_must_be_one(people: tuple[Owner, Owner]) -> None:
    anna, _ = people
    assert "a port, `auto` or `off`" in anna.type("run", "--page", "everywhere", code=2)
    anna.run("--page", "off")
    try:
        assert anna.json("page", code=1)["code"] == "no_page"
    finally:
        assert anna.stop() == 0
