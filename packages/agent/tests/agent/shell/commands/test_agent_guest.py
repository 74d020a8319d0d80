"""`tacit agent guest` as it is typed: with no agent running, each command is the agent for a moment."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arrangements import registered
from tests.agent.guests.host import Holder
from tests.relay_support import Relay
from tests.typed import typed

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "MARKER-SECRET"


@pytest.mark.spec("A2ACP-275", "A2ACP-276", "A2ACP-277")
async def test_an_owner_asks_shows_pastes_and_takes_back_at_the_terminal(tmp_path: Path) -> None:
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")

        async def guest(*words: str, code: int = 0, stdin: str = "", text: bool = False) -> Any:
            line = (
                "agent",
                "--data",
                str(tmp_path / "anna"),
                "guest",
                *words,
                *(() if text else ("--json",)),
            )
            done = await asyncio.to_thread(typed, line, dict(os.environ), stdin)
            assert done.returncode == code, (words, done)
            assert PASSWORD not in done.stdout + done.stderr
            return done.stdout if text else json.loads(done.stdout.splitlines()[-1])

        asked = await guest("ask", "Grandma", "Shall I bring the cake?", "--from", "Anna", "--days", "3")
        assert asked["link"] in asked["text"]
        assert "Hello Grandma," in asked["text"]
        ident = asked["guest_id"]
        assert "nobody" not in await guest("list", text=True)
        assert (await guest("result", ident, code=1))["code"] == "not_confirmed"
        assert (await Holder(relay, asked["link"]).answer("confirm"))[0] == 200
        shown = await guest("show", ident, text=True)
        assert "by the link: confirm; counts" in shown
        assert asked["link"] in shown
        assert "settled" in (await guest("result", ident))["text"]
        assert (await guest("result", ident, "--ics", str(tmp_path / "x.ics"), code=1))["code"] == "no_time"

        assert (await guest("mail", ident, "g@mail.example", code=1))["code"] == "no_mail"
        url = f"smtps://anna:{PASSWORD}@mail.example?from=anna@mail.example"
        kept = {"host": "mail.example", "from": "anna@mail.example"}
        assert await guest("mail-server", "-", stdin=f"{url}\n") == kept
        shown_mail = await guest("mail", ident, "g@mail.example")
        assert (shown_mail["sent"], shown_mail["subject"]) == (False, "It is settled")
        assert await guest("mail-server", "none") == {"host": None, "from": None}

        over = await guest("revoke", ident)
        assert (over["state"], over["counts"]) == ("revoked", None)
        assert "counts for nothing" in await guest("show", ident, text=True)
        read = await guest("paste", ident, "No, sorry")
        assert (read["choice"], read["kept"]) == ("decline", False)
        kept = await guest("paste", ident, "No, sorry", "--as", "confirm", "--keep")
        assert (kept["choice"], kept["kept"]) == ("confirm", True)
        assert (await guest("list"))["guests"][0]["counts"] == "confirm"
        assert (await guest("show", "unknown", code=1))["code"] == "unknown_guest"
