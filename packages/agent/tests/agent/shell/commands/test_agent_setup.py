"""The first day at a terminal: Enter through, an address at a relay, and then what waits."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import time

import pytest

from tests.agent.shell.commands.test_arrange import PATIENCE, Owner
from tests.days import weekday
from tests.processes import RelayProcess
from tests.relay_support import free_port
from tests.shell import TACIT

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    process = RelayProcess(tmp_path_factory.mktemp("relay"), free_port())
    process.start()
    yield process
    process.stop()


@pytest.mark.spec("A2ACP-230", "A2ACP-231")
def test_enter_through_keeps_the_defaults_and_the_zone_of_the_device(tmp_path):
    anna = Owner(tmp_path, "anna")
    anna.env["TZ"] = "Europe/London"
    told = anna.type("setup", stdin="\n" * 9)
    assert "later: tacit agent register" in told
    assert "Your timezone [Europe/London]" in told
    found = anna.json("setup", "--yes")
    assert found["done"] is True
    assert [one["value"] for one in found["prompts"]] == [None, None, "Europe/London"]
    assert [one["level"] for one in found["switches"]] == ["ask", "always", "ask", "ask", "ask"]


@pytest.mark.spec("A2ACP-230", "A2ACP-231", "A2ACP-273")
def test_a_first_day_registers_and_what_was_said_holds_for_the_agent(tmp_path, relay):
    anna = Owner(tmp_path, "anna")
    # A wrong zone and a wrong level are asked again; nothing of it is lost.
    said = ["Anna", "central Reading", "Mars/Base", "Asia/Tokyo", "1", "", "sometimes", "3", "", ""]
    who, code = f"anna@{relay.domain}", anna.invited(relay)
    told = anna.type(
        "setup",
        *("--address", who, "--relay", relay.url, "--code", code, "--plain-keys"),
        stdin="\n".join([*said, ""]),
    )
    assert "a timezone is a name such as" in told
    assert "registered as" in told
    assert anna.json("profile")["profile"] == {
        "name": "Anna",
        "general_location_area": "central Reading",
        "timezone": "Asia/Tokyo",
    }
    permissions = anna.json("permissions")
    assert {"general_availability", "specific_availability"} <= set(permissions["always_share"])
    assert "dietary" in permissions["never_share"]
    # Later on it shows what holds; a switch that was `never` needs the typed words.
    assert anna.json("setup", "--yes", "--switch", "dietary=ask", code=1)["code"] == "confirmation_needed"
    assert anna.json("setup", "--yes", "--switch", "diet=ask", code=1)["code"] == "bad_switch"
    anna.type("setup", stdin="\n\n\n\n\n2\n\n\nshare it\n")
    assert "dietary" in anna.json("permissions")["ask_first"]


class Seat:
    """A real terminal with `tacit agent` on it."""

    def __init__(self, owner: Owner, *words: str) -> None:
        self._leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            [TACIT, "agent", "--data", str(owner.folder), *words],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env={**owner.env, "TERM": "xterm"},
            start_new_session=True,
        )
        os.close(follower)
        self.drawn = ""

    def type(self, text: str) -> None:
        os.write(self._leader, text.encode())

    def sees(self, text: str) -> None:
        end = time.monotonic() + PATIENCE
        while text not in self.drawn:
            assert time.monotonic() < end, self.drawn
            if select.select([self._leader], [], [], 0.2)[0]:
                try:
                    said = os.read(self._leader, 65536)
                except OSError:
                    raise AssertionError(self.drawn) from None
                self.drawn += CODES.sub("", said.decode(errors="replace"))

    def close(self) -> int:
        code = self.process.wait(PATIENCE)
        os.close(self._leader)
        return code


@pytest.mark.spec("A2ACP-230", "A2ACP-232", "A2ACP-234", "A2ACP-273")
def test_the_first_day_at_a_real_terminal_leads_from_nothing_to_the_first_question(tmp_path, relay):
    """Scenario 8: name, place, five switches; then the first time with Ben."""
    cara = Owner(tmp_path, "cara")
    cara.env["TZ"] = "Europe/London"
    cara.env["TACIT_AGENT_PLAIN_KEYS"] = "1"
    seat = Seat(cara)
    seat.sees("Your name")
    for text in ("Cara", "Reading", "", "", "", "", "", ""):
        seat.type(f"{text}\r")
    seat.sees("An address for your agent")
    seat.type("\r")
    seat.sees("later: tacit agent register")
    assert seat.close() == 0

    cara.register(relay, "ben")
    seat = Seat(cara)
    seat.sees("Nothing waits for you")
    # The seat is the agent now, and other commands find it.
    cara.json("ask", f"dinner with ben on {weekday(3)} evening")
    seat.sees("How this goes:")
    seat.sees("this is the first time with ben")
    seat.sees("y share")
    seat.type("q")
    assert seat.close() == 0
    assert cara.json("profile")["profile"]["name"] == "Cara"


@pytest.mark.spec("A2ACP-273")
def test_a_locked_agent_asks_for_its_passphrase_once_and_then_shows_what_waits(tmp_path, relay):
    dora = Owner(tmp_path, "dora")
    locked = {**dora.env, "TACIT_AGENT_PASSPHRASE": "correct horse"}
    plain, dora.env = dora.env, locked
    who, code = f"dora@{relay.domain}", dora.invited(relay)
    dora.json("register", who, "--relay", relay.url, "--code", code)
    dora.json("setup", "--yes", "--name", "Dora")
    dora.env = plain
    seat = Seat(dora)
    seat.sees("Passphrase of this agent")
    seat.type("correct horse\r")
    seat.sees("Nothing waits for you")
    assert seat.drawn.count("Passphrase of this agent") == 1
    seat.type("\x04")
    assert seat.close() == 0
    assert json.loads((dora.type("keys", "--json", code=1)).splitlines()[-1])["code"] == "keys_locked"
