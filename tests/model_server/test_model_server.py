"""The scripted model itself: three formats, streamed and plain, and a script that is followed."""

import asyncio
import json

import aiohttp
import pytest

from tests.model_server import (
    Call,
    Cut,
    Held,
    Hush,
    Improviser,
    ModelServer,
    Refusal,
    Rubbish,
    Say,
    Status,
    Thought,
    Use,
    says,
)
from tests.model_server.steps import Words

ASKED = {
    "/v1/responses": {"instructions": "RULES", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}], "tools": [{"type": "namespace", "name": "mcp__a", "tools": [{"name": "look"}]}]},
    "/v1/chat/completions": {"messages": [{"role": "system", "content": "RULES"}, {"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": {"name": "a__look"}}]},
    "/v1/messages": {"system": [{"type": "text", "text": "RULES"}], "messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "mcp__a__look"}]},
}  # fmt: skip


@pytest.fixture
async def model():
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def post(model):
    async with aiohttp.ClientSession() as http:

        async def post(path, **more):
            async with http.post(model.url + path, json=ASKED[path] | more) as response:
                return response.status, await response.text(), response.headers

        yield post


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_text_and_a_tool_call_are_said_in_each_format(model, post, path, stream):
    model.script(Say("good day"), Call("look", {"at": "x"}))
    _, said, _ = await post(path, stream=stream)
    assert "good" in said
    _, called, _ = await post(path, stream=stream)
    assert "look" in called
    if not stream:
        assert '\\"at\\"' in called or '"at"' in called
        json.loads(called)
    for seen in model.calls:
        assert (seen.system, seen.texts("user")) == ("RULES", ["hi"])
        assert len(seen.tools) == 1


@pytest.mark.parametrize("path", ASKED)
async def test_errors_rubbish_and_cut_lines(model, post, path):
    model.script(Status(429, retry_after=7), Rubbish(), Cut())
    status, _, headers = await post(path)
    assert (status, headers["Retry-After"]) == (429, "7")
    status, body, _ = await post(path)
    assert status == 200
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(body)
    with pytest.raises(aiohttp.ClientError):
        await post(path)
    assert (await post(path))[0] == 400  # the script has ended


@pytest.mark.parametrize("begun", [False, True])
async def test_a_held_reply_waits_for_the_test(model, post, begun):
    held = Held(Say("now"), begun=begun)
    model.script(held)
    asking = asyncio.create_task(post("/v1/messages", stream=True))
    await held.arrived.wait()
    assert (await model.came()) is model.calls[0]
    assert not asking.done()
    held.release()
    assert "now" in (await asking)[1]


async def test_a_function_decides_and_asides_do_not_count(post):
    async with (
        ModelServer(is_aside=lambda seen: seen.body.get("max_tokens") == 1) as model,
        aiohttp.ClientSession() as http,
    ):
        model.follow(lambda seen: Say(f"call {len(model.calls)}"))
        for more in ({"max_tokens": 1}, {}, {}):
            async with http.post(model.url + "/v1/messages", json=ASKED["/v1/messages"] | more) as response:
                said = (await response.json())["content"][0]["text"]
        assert (said, len(model.asides), len(model.calls)) == ("call 1", 1, 2)
        async with http.post(model.url + "/v1/messages/count_tokens", json={}) as response:
            assert (await response.json())["input_tokens"]
        async with http.get(model.url + "/somewhere/else") as response:
            assert response.status == 404
        assert model.others == ["GET /somewhere/else"]


def events(stream: str) -> list[dict]:
    """The data of a stream, comments left out."""
    lines = [line[6:] for line in stream.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


SPOKEN = {
    "/v1/responses": lambda one: one.get("delta", "") if one["type"].endswith("output_text.delta") else "",
    "/v1/chat/completions": lambda one: "".join(
        choice["delta"].get("content") or "" for choice in one["choices"]
    ),
    "/v1/messages": lambda one: one.get("delta", {}).get("text", ""),
}


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("chop", [0, 7])
async def test_a_step_is_the_same_in_any_pieces_and_silent_for_as_long_as_the_test_wants(
    model, post, path, chop
):
    hush = Hush()
    model.script(says(Thought("hm"), "Grüße ", hush, "an 中文", chop=chop))
    asking = asyncio.create_task(post(path, stream=True))
    await hush.arrived.wait()
    assert not asking.done()
    hush.release()
    _, body, _ = await asking
    assert "".join(map(SPOKEN[path], events(body))) == "Grüße an 中文"
    if path == "/v1/responses":
        assert [one["sequence_number"] for one in events(body)] == list(range(len(events(body))))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (says(Refusal("no, sorry")), ("refusal", "refusal", "refusal")),
        (says("half an ans", stop="length"), ("max_output_tokens", "length", "max_tokens")),
        (
            says("look", Use("look", {"at": "x"}), Use("nowhere")),
            ("function_call_arguments.done", "tool_calls", "tool_use"),
        ),
    ],
)
async def test_each_format_has_its_word_for_how_a_step_stopped(model, post, step, words):
    for path, word in zip(ASKED, words, strict=True):
        model.script(step, step)
        assert word in (await post(path, stream=True))[1]
        json.loads((await post(path))[1])


def test_what_the_improviser_does_follows_from_its_seed_and_the_question_alone():
    class Asked:
        def __init__(self, number, looked=0):
            self.said = [("user", f"C2A EVENT\n\nMESSAGE\nhow is part-{number}?"), *[("tool", "ok")] * looked]

    def all_of(seed, order):
        improviser = Improviser(seed)
        return {number: [improviser(Asked(number, looked)) for looked in range(4)] for number in order}

    forward, backward = all_of(3, range(60)), all_of(3, reversed(range(60)))
    assert forward == backward
    assert forward != all_of(4, range(60))
    steps = [step for found in forward.values() for step in found]
    assert {step.stop for step in steps} == {"done", "tools", "refused", "length"}
    assert len({part.text for step in steps for part in step.of(Words)}) > 60
