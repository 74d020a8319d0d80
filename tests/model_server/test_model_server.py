"""The scripted model itself: three formats, streamed and plain, and a script that is followed."""

import asyncio
import json

import aiohttp
import pytest

from tests.model_server import Call, Cut, Held, ModelServer, Rubbish, Say, Status

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
