"""What the web room asks of the hub: rows either way, edits, deletions, private talk, traces, who is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.ledger.io import timeline
from tacit.ledger.io.store import DATABASE
from tests.hub.room import running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.room import Room


async def rows(room: Room, group: str, token: str = "", **query: Any) -> dict[str, Any]:
    return await room.ok("GET", f"/v1/groups/{group}/timeline", params=query, token=token)


def texts(page: dict[str, Any]) -> list[str]:
    return [row["event"]["data"]["text"] for row in page["rows"] if row["event"]["kind"] == "chat.message"]


async def test_a_timeline_is_read_back_and_forth_and_says_where_it_starts_and_ends(room: Room) -> None:
    group = await room.group()
    for number in range(300):
        await room.say(group, str(number))
    page = await rows(room, group, limit=50)
    assert texts(page) == [str(number) for number in range(250, 300)]
    assert (page["starts"], page["ends"]) == (False, True)
    before = await rows(room, group, limit=200, before_seq=page["rows"][0]["event"]["seq"])
    assert texts(before) == [str(number) for number in range(50, 250)]
    after = await rows(room, group, limit=20, after_seq=before["rows"][-1]["event"]["seq"])
    assert texts(after)[0] == "250"
    around = await rows(room, group, limit=10, around_seq=before["rows"][100]["event"]["seq"])
    assert texts(around) == [str(number) for number in range(145, 155)]
    first = await rows(room, group, limit=500)
    assert first["starts"]
    assert first["rows"][0]["event"]["kind"] == "group.create"


async def test_a_timeline_of_large_messages_ends_early_and_says_that_there_is_more(room: Room) -> None:
    group = await room.group()
    large = "x" * 200_000
    for number in range(8):
        await room.say(group, f"{number}{large}")
    page = await rows(room, group, limit=50)
    assert [text[0] for text in texts(page)] == ["5", "6", "7"]
    assert (page["starts"], page["ends"]) == (False, True)
    before = await rows(room, group, limit=50, before_seq=page["rows"][0]["event"]["seq"])
    assert [text[0] for text in texts(before)] == ["2", "3", "4"]
    after = await rows(room, group, limit=50, after_seq=before["rows"][0]["event"]["seq"])
    assert [text[0] for text in texts(after)] == ["3", "4", "5"]
    assert (after["starts"], after["ends"]) == (False, False)
    around = await rows(room, group, limit=50, around_seq=page["rows"][0]["event"]["seq"])
    assert [text[0] for text in texts(around)] == ["2", "3", "4", "5", "6", "7"]
    assert (around["starts"], around["ends"]) == (False, False)


async def test_a_row_carries_reactions_acknowledgements_replies_and_what_it_answers(room: Room) -> None:
    group = await room.group()
    ada = await room.actor(group, "ada")
    asked = await room.say(group, "please acknowledge", priority="attention", to=["@all"])
    answer = await room.say(group, "here", ada, reply_to=asked["id"])
    await room.append(
        group, "chat.reaction", {"event_id": asked["id"], "actor_id": "ada", "emoji": "\U0001f440"}, ada
    )
    await room.append(group, "chat.ack", {"event_id": asked["id"], "actor_id": "ada"}, ada)
    found = {row["event"]["id"]: row for row in (await rows(room, group))["rows"]}
    first = found[asked["id"]]
    assert first["reactions"] == [{"actor_id": "ada", "emoji": "\U0001f440"}]
    assert (first["acknowledged"], first.get("owing")) == (["ada"], None)
    assert first["replies"] == 1
    assert found[answer["id"]]["root"] == asked["id"]
    assert found[answer["id"]]["quoted"]["text"] == "please acknowledge"
    thread = await rows(room, group, root=answer["id"])
    assert texts(thread) == ["please acknowledge", "here"]


@pytest.mark.spec("C2A-214")
async def test_an_edit_shows_the_new_text_and_the_ledger_keeps_both(room: Room) -> None:
    group = await room.group()
    said = await room.say(group, "we meet at nine")
    path = f"/v1/groups/{group}/events/{said['id']}"
    edit = await room.ok("POST", f"{path}/edit", json={"text": "we meet at ten", "client_id": "e1"})
    assert edit["kind"] == "x.c2a.edit"
    again = await room.post(f"{path}/edit", {"text": "we meet at ten", "client_id": "e1"})
    assert again.status == 200
    row = (await rows(room, group))["rows"][-1]
    assert row["edit"]["text"] == "we meet at ten"
    assert row["event"]["data"]["text"] == "we meet at nine"
    second = await room.ok("POST", f"{path}/edit", json={"text": "we meet at noon"})
    assert (await rows(room, group))["rows"][-1]["edit"]["event_id"] == second["id"]
    found = await room.ok("GET", f"/v1/groups/{group}/search", params={"q": "noon"})
    assert [row["event"]["id"] for row in found["rows"]] == [said["id"]]
    assert (await room.ok("GET", f"/v1/groups/{group}/search", params={"q": "nine"}))["rows"] == []


@pytest.mark.spec("C2A-214")
async def test_keys_of_edits_are_their_authors_own_however_long_they_are(room: Room) -> None:
    group = await room.group()
    body = {"principal": "usr:bea"}
    bea = (await room.ok("POST", f"/v1/groups/{group}/people", json=body))["token"]
    usr = await room.actor(group, "usr")
    long = "k" * 127
    for token, key in ((bea, "k2"), (usr, "bea:k2"), (bea, f"{long}1"), (bea, f"{long}2")):
        said = await room.say(group, "first", token)
        path = f"/v1/groups/{group}/events/{said['id']}/edit"
        edit = {"text": f"second {key}", "client_id": key}
        first, again = [(await room.post(path, edit, token=token)).body for _ in range(2)]
        assert (first["data"]["supersedes"], again["id"]) == (said["id"], first["id"])


@pytest.mark.spec("C2A-187", "C2A-214")
async def test_what_a_row_quotes_stands_in_its_newest_form_or_not_at_all(room: Room) -> None:
    group = await room.group()
    ada = await room.actor(group, "ada")
    said = await room.say(group, "we meet at nine", ada)
    path = f"/v1/groups/{group}/events/{said['id']}"
    edits = [(await room.post(f"{path}/edit", {"text": text}, token=ada)).body for text in ("at ten", "noon")]
    for replied in (said, *edits):
        await room.say(group, "fine", reply_to=replied["id"])

    async def quoted() -> list[tuple[str, str, str]]:
        found = [row["quoted"] for row in (await rows(room, group))["rows"] if "quoted" in row]
        return [(one["event_id"], one["by"], one["text"]) for one in found]

    assert await quoted() == [(said["id"], "ada", "noon")] * 3
    assert (await room.post(f"{path}/delete", token=ada)).status == 200
    assert await quoted() == [(said["id"], "ada", "")] * 3


@pytest.mark.spec("C2A-189", "C2A-214")
async def test_every_edit_names_the_first_form_and_keeps_whom_an_earlier_one_named(room: Room) -> None:
    group = await room.group()
    ada = await room.actor(group, "ada")
    said = await room.say(group, "the plan", ada)
    async with room.socket(ada) as socket:
        for number in range(40):
            given = {"mentions": ["user"]} if number == 1 else {}
            edit = await socket.call(
                "edit", group_id=group, event_id=said["id"], text=f"the plan, {number}", **given
            )
    assert (edit["data"]["original"], edit["data"]["mentions"]) == (said["id"], ["user"])
    for path in (f"events/{said['id']}", f"events/{edit['id']}", "window", "search?q=39"):
        assert "the plan, 39" in str(await room.ok("GET", f"/v1/groups/{group}/{path}")), path


@pytest.mark.spec("C2A-187", "C2A-214")
async def test_a_deleted_message_is_hidden_by_every_view_of_the_room(room: Room) -> None:
    group = await room.group()
    ada = await room.actor(group, "ada")
    said = await room.say(group, "a secret slip", ada)
    await room.say(group, "answering it", reply_to=said["id"])
    path = f"/v1/groups/{group}/events/{said['id']}"
    assert (await room.post(f"{path}/delete", token=ada)).status == 200
    answer = await room.get(f"/v1/groups/{group}/timeline")
    assert b"a secret slip" not in answer.raw
    assert next(row for row in answer.body["rows"] if row["event"]["id"] == said["id"])["deleted"]
    search = await room.ok("GET", f"/v1/groups/{group}/search", params={"q": "secret"})
    assert search == {"events": [], "rows": []}
    refused = await room.post(f"{path}/edit", {"text": "again"}, token=ada)
    assert refused.code == "invalid_request"


async def test_only_the_author_edits_and_only_the_author_or_the_owner_deletes(room: Room) -> None:
    group = await room.group()
    ada, bob = await room.actor(group, "ada"), await room.actor(group, "bob")
    said = await room.say(group, "mine", ada)
    path = f"/v1/groups/{group}/events/{said['id']}"
    assert (await room.post(f"{path}/edit", {"text": "yours"}, token=bob)).code == "permission_denied"
    assert (await room.post(f"{path}/edit", {"text": "yours"})).code == "permission_denied"
    assert (await room.post(f"{path}/delete", token=bob)).code == "permission_denied"
    assert (await room.post(f"{path}/delete")).status == 200


async def test_private_talk_has_a_place_of_its_own_and_its_edits_stay_there(room: Room) -> None:
    group = await room.group()
    ada, bob = await room.actor(group, "ada"), await room.actor(group, "bob")
    await room.say(group, "for all")
    whisper = await room.say(group, "only for ada", to=["ada"])
    await room.say(group, "back to you", ada, to=["user"])
    assert texts(await rows(room, group)) == ["for all"]
    private = await rows(room, group, ada, parties="ada,user")
    assert texts(private) == ["only for ada", "back to you"]
    assert private["rows"][0]["parties"] == ["ada", "user"]
    listed = await room.ok("GET", f"/v1/groups/{group}/conversations")
    assert [one["parties"] for one in listed["conversations"]] == [["ada", "user"]]
    assert len(listed["conversations"][0]["received"]) == 1
    hidden = await room.ok("GET", f"/v1/groups/{group}/conversations", token=bob)
    assert hidden == {"conversations": []}
    await room.ok(
        "POST", f"/v1/groups/{group}/events/{whisper['id']}/edit", json={"text": "still only for ada"}
    )
    for path in ("events", "timeline", "timeline?parties=ada,user", "search?q=only"):
        answer = await room.get(f"/v1/groups/{group}/{path}", token=bob)
        assert b"only for ada" not in answer.raw


@pytest.mark.spec("CCCS-110")
async def test_private_talk_of_others_pushes_no_conversation_off_the_list(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "PRIVATE_SCAN", 3)
    group = await room.group()
    tokens = {name: await room.actor(group, name) for name in ("ann", "bob", "eve", "joe")}
    dear = await room.say(group, "dear eve", tokens["joe"], to=["eve"])
    ours = await room.say(group, "ours", tokens["ann"], to=["bob"])
    for number in range(4):
        sign = {"event_id": ours["id"], "actor_id": "ann", "emoji": f"e{number}"}
        await room.append(group, "chat.reaction", sign, tokens["ann"])
        await room.say(group, f"ours {number}", tokens["ann"], to=["bob"])

    async def listed(name: str) -> list[tuple[list[str], int]]:
        path = f"/v1/groups/{group}/conversations"
        found = (await room.ok("GET", path, token=tokens.get(name, "")))["conversations"]
        return [(one["parties"], len(one["received"])) for one in found]

    assert await listed("eve") == [(["eve", "joe"], 1)]
    assert await listed("joe") == [(["eve", "joe"], 0)]
    assert await listed("bob") == [(["ann", "bob"], 3)]
    await room.say(group, "thank you", tokens["eve"], reply_to=dear["id"])
    assert await listed("user") == [(["eve", "joe"], 0), (["ann", "bob"], 0)]


async def test_a_private_answer_to_an_open_message_is_not_even_counted(room: Room) -> None:
    group = await room.group()
    ada, bob = await room.actor(group, "ada"), await room.actor(group, "bob")
    said = await room.say(group, "open")
    await room.say(group, "aside", ada, to=["user"], reply_to=said["id"], conversation={"kind": "dm"})
    await room.say(group, "aloud", ada, reply_to=said["id"])
    shown = {row["event"]["id"]: row for row in (await rows(room, group, bob))["rows"]}
    assert shown[said["id"]]["replies"] == 1


@pytest.mark.spec("CCCS-110", "C2A-187")
async def test_a_trace_is_listed_without_what_one_may_not_see_and_without_what_was_taken_back(
    room: Room,
) -> None:
    group = await room.group()
    tokens = {name: await room.actor(group, name) for name in ("ann", "bob", "eve")}

    async def speak(mid: str, tid: str, to: str, word: str) -> str:
        message = {
            "clowl": "0.2", "mid": mid, "ts": 1768298400, "p": "INF", "from": "ann", "to": to, "cid": "c1",
            "tid": tid, "body": {"t": word, "d": {}},
        }  # fmt: skip
        said = await room.post(f"/v1/groups/{group}/clowl", {"message": message}, token=tokens["ann"])
        assert said.status == 201, said.body
        return said.body["id"]

    async def listed(name: str, limit: int = 50) -> dict[str, tuple[str, str, int]]:
        path = f"/v1/groups/{group}/traces?limit={limit}"
        traces = (await room.ok("GET", path, token=tokens.get(name, "")))["traces"]
        return {one["tid"]: (one["first"]["id"], one["last"]["id"], one["count"]) for one in traces}

    opening = await speak("m1", "open", "*", "hello")
    secret = await speak("m2", "open", "bob", "zebra")
    aside = await speak("m3", "aside", "bob", "zebra")
    assert await listed("eve", limit=1) == {"open": (opening, opening, 1)}
    for name in ("ann", "bob", "user"):
        assert await listed(name) == {"aside": (aside, aside, 1), "open": (opening, secret, 2)}
    slip = await speak("m4", "slip", "*", "giraffe")
    for one in (slip, opening):
        gone = await room.post(f"/v1/groups/{group}/events/{one}/delete", token=tokens["ann"])
        assert gone.status == 200
    assert await listed("eve") == {}
    assert await listed("bob") == {"aside": (aside, aside, 1), "open": (secret, secret, 1)}


async def test_a_follower_is_told_who_the_parties_of_a_private_message_are(room: Room) -> None:
    group = await room.group()
    await room.actor(group, "ada")
    async with room.socket() as socket:
        subscription = await socket.call("follow", group_id=group, since_seq=await room.last_seq(group))
        await room.say(group, "aloud")
        await room.say(group, "aside", to=["ada"])
        first, second = [(await socket.note("event"))["params"] for _ in range(2)]
    assert subscription
    assert "parties" not in first
    assert second["parties"] == ["ada", "user"]


async def test_who_follows_a_group_is_present_and_who_left_is_not(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        ada = await room.actor(group, "ada")
        async with room.socket(ada) as socket:
            await socket.call("follow", group_id=group)
            await socket.call("events", group_id=group)
            assert (await room.ok("GET", f"/v1/groups/{group}/presence")) == {"online": ["ada"], "away": []}
        async with room.socket() as other:
            await other.call("whoami")
            for _ in range(50):
                if (await other.call("presence", group_id=group)) == {"online": [], "away": []}:
                    break
            else:
                pytest.fail("ada is still shown")


async def test_positions_and_places_are_named_one_at_a_time(room: Room) -> None:
    group = await room.group()
    for query in ("before_seq=1&after_seq=1", "parties=a&root=b"):
        assert (await room.get(f"/v1/groups/{group}/timeline?{query}")).code == "invalid_request"


@pytest.mark.spec("CCCS-110", "C2A-187")
async def test_what_is_not_shown_takes_no_place_in_a_trace_or_a_search(room: Room) -> None:
    group = await room.group()
    tokens = {name: await room.actor(group, name) for name in ("ann", "bob", "eve")}
    ids: list[str] = []
    for number, to in enumerate(["bob"] * 5 + ["*"] * 6):
        message = {
            "clowl": "0.2", "mid": f"m{number}", "ts": 1768298400, "p": "INF", "from": "ann", "to": to,
            "cid": "c1", "tid": "t1", "body": {"t": f"zebra{number}", "d": {}},
        }  # fmt: skip
        said = await room.post(f"/v1/groups/{group}/clowl", {"message": message}, token=tokens["ann"])
        assert said.status == 201, said.body
        ids.append(said.body["id"])
    for one in ids[5:8]:
        await room.post(f"/v1/groups/{group}/events/{one}/delete", token=tokens["ann"])
    path = f"/v1/groups/{group}/traces/t1?limit=2"
    found = (await room.ok("GET", path, token=tokens["eve"]))["events"]
    assert [one["id"] for one in found] == ids[8:10]

    kept = await room.say(group, "the walrus is here")
    for number in range(5):
        gone = await room.say(group, f"the walrus number {number}")
        await room.ok("POST", f"/v1/groups/{group}/events/{gone['id']}/edit", json={"text": "nothing"})
    hits = await room.ok("GET", f"/v1/groups/{group}/search", params={"q": "walrus", "limit": 1})
    assert [row["event"]["id"] for row in hits["rows"]] == [kept["id"]]


async def test_a_timeline_with_a_damaged_message_names_it_and_shows_the_rest(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        said = [await room.say(group, f"message {number} " + "lorem ipsum " * 40) for number in range(30)]
    path = tmp_path / DATABASE
    data = bytearray(path.read_bytes())
    data[data.index(b'"message 20 ') + 3] ^= 4
    path.write_bytes(data)
    async with running(tmp_path) as room:
        answer = await room.get(f"/v1/groups/{group}/timeline?limit=200")
        assert answer.status == 200
        shown = [row["event"]["id"] for row in answer.body["rows"] if row["event"]["kind"] == "chat.message"]
        assert shown == [one["id"] for one in said if one is not said[20]]
        assert answer.body["damaged"] == [said[20]["seq"]]
        refused = await room.get(f"/v1/groups/{group}/events/{said[20]['id']}")
        assert f"event {said[20]['seq']} of this group is damaged" in str(refused.body)
