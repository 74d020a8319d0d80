"""People without an agent, from the owner's side: asked, answered, pasted, mailed, taken back."""

from __future__ import annotations

import asyncio
import email
import json

import pytest

from tacit.a2acp.consent.tiers import Tier
from tacit.agent.guests.fold import GuestTables
from tacit.agent.shell.io import calls
from tacit.base.errors import Refused
from tacit.base.io.system import SystemEntropy
from tacit.relay.settings import DAY
from tacit.seal import guest_seal
from tacit.wire.encoding import b64
from tests.agent.guests.host import Holder, host
from tests.mail_server import mail_server
from tests.relay_support import PATIENCE, until

TEXT = "Dinner on Friday at 7pm at Mario's?"


@pytest.mark.spec("A2ACP-275", "A2ACP-277")
async def test_grandma_confirms_the_result_is_text_and_entry_and_nothing_is_remembered(tmp_path):
    async with host(tmp_path) as (relay, agent):
        book = agent.journal.book
        before = [dict(book.by_name()[name]) for name in ("tallies", "approvals", "completions", "hints")]
        asked = await agent.guest_ask("Grandma", TEXT, signed="Anna")
        assert asked["state"] == "open"
        assert asked["link"].startswith(f"{relay.url}/g/{asked['guest_id']}#")
        assert asked["link"] in asked["text"]
        grandma = Holder(relay, asked["link"])
        question = await grandma.question()
        # Every word that she is shown was shown to the owner first.
        assert question == asked["question"]
        with pytest.raises(Refused, match="has not said yes"):
            await agent.guest_result(asked["guest_id"])
        assert (await grandma.answer("confirm"))[0] == 200
        found = await agent.guest(asked["guest_id"])
        assert found["counts"] == "confirm"
        (packet,) = found["answers"][0]["packets"]
        assert packet["type"] == "resolution_response"
        assert (packet["status"], packet["from"]) == ("confirmed", f"guest:{asked['guest_id']}")

        result = await agent.guest_result(asked["guest_id"])
        assert "Friday 27 March 2026" in result["text"]
        assert "DTSTART:20260327T190000Z" in result["ics"]
        # No memory, no trust, no promotion; no contact, no thread, nothing under way, nothing in a calendar.
        assert [
            dict(book.by_name()[name]) for name in ("tallies", "approvals", "completions", "hints")
        ] == before
        assert not list(book.threads)
        assert not list(book.acting)
        assert agent.post.store.rows("SELECT address FROM contacts") == []
        assert not (tmp_path / "anna" / "calendar.ics").exists()


@pytest.mark.spec("A2ACP-277")
async def test_a_forwarded_link_is_revoked_the_owner_saw_the_stranger_and_it_counts_for_nothing(tmp_path):
    async with host(tmp_path) as (relay, agent):
        asked = await agent.guest_ask("Grandma", TEXT)
        stranger = Holder(relay, asked["link"])
        await stranger.answer("confirm")
        assert (await agent.guest(asked["guest_id"]))["counts"] == "confirm"
        await stranger.answer("suggest", suggestion="My place, midnight")
        # Taken back before the second one was fetched: it is seen all the same.
        over = await agent.guest_revoke(asked["guest_id"])
        assert (over["state"], over["link"], over["counts"]) == ("revoked", None, None)
        assert [one["choice"] for one in over["answers"]] == ["confirm", "suggest"]
        assert [one["counts"] for one in over["answers"]] == [False, False]
        assert over["answers"][1]["suggestion"] == "My place, midnight"
        with pytest.raises(Refused):
            await agent.guest_result(asked["guest_id"])
        # Nobody opens it or answers any more, and the key is gone here too.
        assert (await stranger.post("question"))[0] == 404
        assert (await stranger.answer("confirm"))[0] == 404
        assert (
            agent.vault.value(agent.journal.book.part(GuestTables).guests[asked["guest_id"]].secret) is None
        )
        assert asked["guest_id"] not in agent.journal.book.part(GuestTables).open_guests
        # What the agent has, the relay has no longer.
        kept = "SELECT count(*) FROM guest_answers WHERE sealed<>x''"
        assert relay.mailboxes.store.reader.execute(kept).get == 0
        # Grandma herself, on the telephone, counts.
        await agent.guest_paste(asked["guest_id"], "Yes, lovely!", keep=True)
        assert (await agent.guest(asked["guest_id"]))["counts"] == "confirm"


@pytest.mark.spec("A2ACP-275")
async def test_a_pasted_reply_is_shown_for_correction_first_and_marked_as_the_owners_word(tmp_path):
    async with host(tmp_path) as (_, agent):
        asked = await agent.guest_ask(
            "Uncle Bob", TEXT, questions=["Do you eat fish?", "Do you need a lift?"], days=2
        )
        guest = asked["guest_id"]
        reply = "> Hello Uncle Bob\nThat works for me, see you!\n1. Only salmon\n2) no"
        read = await agent.guest_paste(guest, reply)
        assert (read["choice"], read["answers"], read["kept"]) == ("confirm", ["Only salmon", "no"], False)
        assert (await agent.guest(guest))["answers"] == []
        # What cannot be told is not guessed, and not kept without a word of the owner's.
        assert (await agent.guest_paste(guest, "Hm."))["choice"] == ""
        with pytest.raises(Refused):
            await agent.guest_paste(guest, "Hm.", keep=True)
        await agent.guest_paste(guest, reply, keep=True, answers=["Only trout", "no"])
        (kept,) = (await agent.guest(guest))["answers"]
        assert (kept["source"], kept["counts"], kept["answers"]) == (
            "relayed_by_user",
            True,
            ["Only trout", "no"],
        )
        types = [(one["type"], one["source"]) for one in kept["packets"]]
        assert types == [
            ("context_response", "relayed_by_user"),
            ("resolution_response", "relayed_by_user"),
        ]
        # A second thought takes its place.
        await agent.guest_paste(guest, "Sorry, I can't make it after all", keep=True)
        assert (await agent.guest(guest))["counts"] == "decline"


@pytest.mark.spec("A2ACP-275")
async def test_a_mail_leaves_only_as_every_word_of_it_was_shown(tmp_path):
    async with host(tmp_path) as (relay, agent), mail_server() as (letters, port):
        asked = await agent.guest_ask("Grandma", TEXT, signed="Anna")
        guest, call = asked["guest_id"], agent_call(agent)
        with pytest.raises(Refused, match="mail-server"):
            await call("guest_mail", guest_id=guest, to="grandma@mail.example")
        with pytest.raises(Refused):
            await call("guest_mail_server", url="ftp://mail.example")
        await call("guest_mail_server", url=f"smtp://127.0.0.1:{port}?from=anna@mail.example")
        shown = await call("guest_mail", guest_id=guest, to="grandma@mail.example")
        assert (shown["sent"], letters) == (False, [])
        assert asked["text"] == shown["text"]
        for to in ("other@mail.example", "grandma@mail.example\nBcc: all@mail.example", "nobody"):
            with pytest.raises(Refused):
                await call("guest_mail", guest_id=guest, to=to, fingerprint=shown["fingerprint"])
        assert letters == []
        await call("guest_mail", guest_id=guest, to="grandma@mail.example", fingerprint=shown["fingerprint"])
        ((to, raw),) = letters
        letter = email.message_from_bytes(raw, policy=email.policy.default)
        assert to == "grandma@mail.example"
        assert letter.get_content().splitlines() == asked["text"].splitlines()

        await Holder(relay, asked["link"]).answer("confirm")
        await agent.guest(guest)
        settled = await call("guest_mail", guest_id=guest, to="grandma@mail.example")
        await call("guest_mail", guest_id=guest, to=settled["to"], fingerprint=settled["fingerprint"])
        letter = email.message_from_bytes(letters[1][1], policy=email.policy.default)
        (entry,) = letter.iter_attachments()
        assert entry.get_filename() == "appointment.ics"
        assert "DTSTART:20260327T190000Z" in entry.get_content()
        assert (await agent.guest(guest))["mailed"] == 2


def agent_call(agent):
    return lambda command, /, **given: calls.call(agent, command, given)


@pytest.mark.spec("A2ACP-277")
async def test_only_fields_that_may_always_go_or_were_named_for_this_message_reach_a_guest(tmp_path):
    async with host(tmp_path) as (_, agent):
        plain = await agent.guest_ask("Grandma", TEXT)
        assert (plain["question"]["from"], plain["question"]["facts"]) == ("", [])
        assert "no meat" not in json.dumps(plain)
        named = await agent.guest_ask("Grandma", TEXT, share=["dietary", "name"])
        assert named["question"]["facts"] == [{"label": "Dietary", "text": "no meat"}]
        assert named["question"]["from"] == "Anna"
        told = {(one["to"], one["field"], one["basis"]) for one in (await agent.disclosures())["disclosures"]}
        assert (f"guest:{named['guest_id']}", "dietary", "user_approved") in told
        assert (f"guest:{plain['guest_id']}", "timezone", "user_preauthorised") in told
        await agent.profile({"health_info": "secret"})
        count = len((await agent.guests())["guests"])
        for share in (["health_info"], ["unheard_of"]):
            with pytest.raises(Refused):
                await agent.guest_ask("Grandma", TEXT, share=share)
        await agent.permissions("dietary", Tier.NEVER)
        with pytest.raises(Refused):
            await agent.guest_ask("Grandma", TEXT, share=["dietary"])
        assert len((await agent.guests())["guests"]) == count


@pytest.mark.spec("A2ACP-275", "A2ACP-277")
async def test_a_program_of_the_owners_names_questions_and_fields_as_lists_and_nothing_else(tmp_path):
    async with host(tmp_path) as (_, agent):
        ask = agent_call(agent)
        lists = {"questions": ["How many?", "When?"], "share": ["dietary"]}
        asked = (await ask("guest_ask", name="Grandma", text=TEXT, **lists))["question"]
        assert asked["questions"] == ["How many?", "When?"]
        assert [one["text"] for one in asked["facts"]] == ["no meat"]
        for other in ({"questions": "How many?"}, {"share": "dietary"}, {"questions": ["How many?", 7]}):
            with pytest.raises(Refused, match="Expected"):
                await ask("guest_ask", name="Grandma", text=TEXT, **other)
        for none in ({}, {"questions": None, "share": None}):
            asked = (await ask("guest_ask", name="Grandma", text=TEXT, **none))["question"]
            assert (asked.get("questions"), asked["facts"]) == ([], [])


@pytest.mark.spec("A2ACP-277")
async def test_what_is_no_answer_is_told_counts_for_nothing_and_the_next_real_one_does(tmp_path):
    async with host(tmp_path) as (relay, agent):
        asked = await agent.guest_ask("Grandma", TEXT)
        holder = Holder(relay, asked["link"])
        nonce = SystemEntropy().draw(12)
        elsewhere = guest_seal.seal(bytes(32), holder.guest_id, guest_seal.ANSWER, bytes(2048), nonce)
        for answer in (
            holder.sealed(b"not json"),
            holder.sealed(b'["a list"]'),
            holder.sealed(b'{"v": 1, "choice": "pay"}'),
            holder.sealed(b'{"v": 1, "choice": "suggest"}'),
            holder.sealed(json.dumps({"v": 1, "choice": "confirm", "answers": ["x"] * 6}).encode()),
            holder.sealed(json.dumps({"v": 1, "choice": "confirm", "suggestion": "x" * 1001}).encode()),
            b64(elsewhere),
        ):
            assert (await holder.post("answers", answer=answer))[0] == 200
        found = await agent.guest(asked["guest_id"])
        assert [one["readable"] for one in found["answers"]] == [False] * 7
        assert found["counts"] is None
        codes = [one["code"] for one in (await agent.notices())["notices"]]
        assert codes == ["guest_unreadable"] * 7
        await holder.answer("decline")
        assert (await agent.guest(asked["guest_id"]))["counts"] == "decline"


@pytest.mark.spec("A2ACP-276")
async def test_a_running_agent_hears_of_an_answer_and_takes_it_by_itself(tmp_path):
    async with host(tmp_path) as (relay, agent):
        asked = await agent.guest_ask("Grandma", TEXT)
        stopped = asyncio.Event()
        running = asyncio.create_task(agent.run(stopped))
        await until(lambda: agent.connection is not None and agent.connection.connected.is_set())
        with agent.changes.followed() as follower:
            await Holder(relay, asked["link"]).answer("confirm")
            async with asyncio.timeout(PATIENCE):
                while (await follower.next()).get("guest_id") != asked["guest_id"]:
                    pass
        await until(
            lambda: agent.journal.book.part(GuestTables).guests[asked["guest_id"]].counted is not None
        )
        stopped.set()
        await running


@pytest.mark.spec("A2ACP-276")
async def test_a_relay_that_hands_out_an_answer_twice_gives_nobody_a_second_voice(tmp_path):
    async with host(tmp_path) as (relay, agent):
        asked = await agent.guest_ask("Grandma", TEXT)
        holder = Holder(relay, asked["link"])
        await holder.answer("confirm")
        await holder.answer("decline")
        await relay.mailboxes.store.write(
            lambda file: file.execute(
                "INSERT INTO guest_answers SELECT guest, 3, x'00', at, sealed FROM guest_answers WHERE number=1"
            )
        )
        found = await agent.guest(asked["guest_id"])
        assert [one["choice"] for one in found["answers"]] == ["confirm", "decline"]
        assert found["counts"] == "decline"
        assert agent.journal.book.part(GuestTables).guests[asked["guest_id"]].number == 3


@pytest.mark.spec("A2ACP-277")
async def test_after_its_days_a_link_is_over_and_its_last_answers_are_here(tmp_path):
    async with host(tmp_path) as (relay, agent):
        asked = await agent.guest_ask("Grandma", TEXT, days=1)
        await Holder(relay, asked["link"]).answer("confirm")
        relay.clock.ahead += DAY
        found = await agent.guest(asked["guest_id"])
        assert (found["state"], found["counts"], found["link"]) == ("over", "confirm", None)
        assert asked["guest_id"] not in agent.journal.book.part(GuestTables).open_guests
        for days in (0, 8):
            with pytest.raises(Refused):
                await agent.guest_ask("Grandma", TEXT, days=days)


@pytest.mark.spec("A2ACP-276")
async def test_a_relay_that_is_away_holds_up_the_link_and_nothing_is_lost_by_a_restart(tmp_path):
    async with host(tmp_path) as (relay, agent):
        await relay.server.stop()
        asked = await agent.guest_ask("Grandma", TEXT)
        assert asked["state"] == "waiting"
        await agent.__aexit__(None, None, None)
        relay.server = type(relay.server)(relay._settings, relay._parts)
        await relay.server.start()
        await agent.__aenter__()
        found = await agent.guest(asked["guest_id"])
        assert (found["state"], found["link"]) == ("open", asked["link"])
        assert (await Holder(relay, found["link"]).question()) == asked["question"]


@pytest.mark.spec("A2ACP-275")
async def test_who_has_an_agent_is_not_asked_by_a_link_and_who_has_none_is(tmp_path):
    async with host(tmp_path) as (relay, agent):
        await relay.person("ben")
        with pytest.raises(Refused, match="has an agent"):
            await agent.guest_ask(f"agent:ben@{relay.domain}", TEXT)
        asked = await agent.guest_ask(f"agent:nobody@{relay.domain}", TEXT)
        assert asked["state"] == "open"


@pytest.mark.spec("A2ACP-277")
async def test_what_was_asked_and_answered_is_forgotten_in_every_byte_of_the_folder(tmp_path):
    marker = "mArKeR-of-a-guest"
    async with host(tmp_path) as (relay, agent):
        asked = await agent.guest_ask(f"{marker} name", f"{marker} text", signed="Anna")
        await Holder(relay, asked["link"]).answer("suggest", suggestion=f"{marker} words")
        await agent.guest(asked["guest_id"])
        await agent.guest_paste(asked["guest_id"], f"Yes {marker}", keep=True, suggestion=marker)
        assert await agent.guest_forget(asked["guest_id"]) == {"forgotten": asked["guest_id"]}
        found = await agent.guest(asked["guest_id"])
        assert (found["name"], found["state"], len(found["answers"])) == (None, "revoked", 2)
        assert marker not in json.dumps(found)
    left = b"".join(path.read_bytes() for path in (tmp_path / "anna").rglob("*") if path.is_file())
    assert asked["guest_id"].encode() in left
    assert marker.encode() not in left
