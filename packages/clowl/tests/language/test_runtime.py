"""One agent's runtime: what it refuses and how it answers, capabilities, contexts, drafts, carriage, repair."""

from __future__ import annotations

import asyncio
import hashlib
import io
import ipaddress
import json
import logging
import os
import subprocess
import sys

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from tacit.base.errors import Refused
from tacit.language import Context, Invalid, Runtime, encode, parse, read, read_repaired, read_value, to_value
from tacit.language.answers import MAX_QUOTE, answer, answer_reading, may_answer
from tacit.language.capabilities import LIFETIME, Capabilities, fits
from tacit.language.carriage import from_a2acp, from_authenticated, from_mcp, into_a2acp, into_mcp, to_line
from tacit.language.context import Blocked, Content, References, Unreachable, Unusable, Usable, digest, judge
from tacit.language.io.logs import pieces
from tacit.language.io.monitor import InlineMonitor
from tacit.language.io.resolvers import FileResolver, HttpResolver, Resolvers
from tacit.language.legacy import read_v01
from tacit.language.runtime import Hooks
from tacit.language.semantic import Drafting, Handles, Unwritable, complete, feedback, unsent
from tacit.language.version import compatible, foreign_error, is_version
from tests.language.cast import START, Clock, author, message, value

# --- answers ---


def runtime(agent="radar", supports=("search", "analyze:trend"), clock=None, **rest):
    return Runtime(author(agent, clock), supports, **rest)


def received(one, **members):
    return json.dumps(value(one, **members) if isinstance(one, str) else one).encode()


def codes(receipt):
    return [error.data["code"] for error in receipt.answers]


@pytest.mark.spec("CLOWL-001", "CLOWL-062", "CLOWL-065")
def test_a_broken_message_is_answered_with_its_faults_and_a_short_quote():
    broken = value(ts="now", tid="t1")
    (error,) = runtime().receive(received(broken)).answers
    assert (error.to, error.cid, error.trace, error.parent) == ("oscar", "c1", "t1", "m1")
    assert (error.data["code"], error.data["retry"]) == ("E001", True)
    assert error.data["faults"][0]["path"] == "$.ts"
    assert len(error.data["quote"]) == MAX_QUOTE == 80
    assert parse(encode(error), strict=True) == error


@pytest.mark.spec("CLOWL-065", "CLOWL-018")
def test_what_is_unreadable_is_left_out_of_the_answer_and_a_token_is_never_quoted():
    broken = value(mid=7, cid="", tid=[], auth="tok-3n")
    (error,) = runtime().receive(received(broken)).answers
    assert (error.cid, error.parent, error.trace) == ("system", None, None)
    assert b"tok-3n" not in encode(error)
    assert "quote" not in error.data


@pytest.mark.spec("CLOWL-065")
@pytest.mark.parametrize(
    "broken",
    [
        value("ERR", ts="x"), value("ACK", ts="x"), value("DONE", ts="x"), value("PROG", ts="x"),
        value(to="*", ts="x"), value(from_=5), value(from_=...), value(from_="*"), value(from_="radar", ts="x"),
        value("CAPS", {}, to="*"), [1],
    ],
)  # fmt: skip
def test_there_are_no_error_storms(broken):
    receipt = runtime().receive(received(broken))
    assert receipt.outcome == "refused"
    assert receipt.answers == ()
    assert runtime().receive(b"{broken").answers == ()


@pytest.mark.spec("CLOWL-065")
def test_which_errors_may_answer_what():
    for p in ("ERR", "ACK", "DONE", "PROG"):
        assert not may_answer(p, "radar", "E001")
    assert not may_answer("REQ", "*", "E005")
    assert may_answer("REQ", "radar", "E005")
    assert may_answer("CAPS", "*", "E014")
    assert not may_answer("CAPS", "*", "E008")
    assert answer(author("radar"), message("DONE", pid="x"), "E001", "x") is None
    assert answer_reading(author("radar"), read(received(value())), received(value())) is None


@pytest.mark.spec("CLOWL-088", "CLOWL-089", "CLOWL-090")
def test_another_version_is_answered_e014_before_anything_else_is_read():
    for broken in (value(clowl="0.3", ts="x"), value(clowl=..., cl="0.1")):
        receipt = runtime().receive(received(broken))
        assert codes(receipt) == ["E014"]
        assert receipt.answers[0].data["supported"] == ["0.2"]
        assert receipt.message is None
    assert codes(runtime().receive(received(value(clowl=...)))) == ["E001"]
    assert codes(runtime().receive(received(value(clowl="v2")))) == ["E001"]


@pytest.mark.spec("CLOWL-065", "CLOWL-088")
def test_an_error_of_another_version_is_read_as_far_as_needed_and_not_answered():
    foreign = value("ERR", {"code": "E014", "msg": "We speak 1.0"}, clowl="1.0", pid="m0")
    receipt = runtime().receive(received(foreign))
    assert receipt.answers == ()
    assert (receipt.foreign.code, receipt.foreign.msg, receipt.foreign.pid) == ("E014", "We speak 1.0", "m0")
    fenced = f"```json\n{json.dumps(foreign)}\n```"
    assert runtime().receive(fenced).foreign == receipt.foreign
    assert codes(runtime().receive(f"```\n{json.dumps(value(ts='x'))}\n```")) == ["E001"]
    assert foreign_error(value()) is None
    assert foreign_error([]) is None


@pytest.mark.spec("CLOWL-087", "CLOWL-089")
def test_versions_below_one_are_equal_or_foreign_and_later_the_major_number_decides():
    assert all(is_version(text) for text in ("0.2", "1.0", "10.12"))
    assert not any(is_version(text) for text in ("", "0", "0.2.0", "a.b", "0.2\n", ".2"))
    assert compatible("0.2", "0.2")
    assert not compatible("0.2", "0.3")
    assert compatible("1.0", "1.7")
    assert not compatible("1.0", "2.0")
    assert not compatible("1.0", "x")


# --- hooks ---


@pytest.mark.spec("CLOWL-017", "CLOWL-018")
def test_a_verifier_decides_on_token_sender_and_peer_and_a_refusal_starts_no_work():
    seen = []

    def verifier(token, sender, peer):
        seen.append((token, sender, peer))
        return token == "good"

    radar = runtime(hooks=Hooks(verifier=verifier))
    refused = radar.receive(received("REQ", auth="bad"), peer="oscar")
    assert (refused.outcome, codes(refused)) == ("refused", ["E002"])
    assert radar.lifecycle.tasks == ()
    assert b"bad" not in encode(refused.answers[0])
    assert radar.receive(received("REQ", auth="good"), peer="oscar").outcome == "process"
    assert seen == [("bad", "oscar", "oscar"), ("good", "oscar", "oscar")]
    assert codes(radar.receive(received("REQ", mid="m2", auth="good"), peer="eve")) == ["E002"]


@pytest.mark.spec("CLOWL-062")
@pytest.mark.parametrize(
    ("hook", "code"),
    [("security", "E016"), ("capacity", "E004"), ("budget", "E012"), ("inputs", "E007"), ("data", "E008")],
)
def test_each_hook_has_its_code(hook, code):
    radar = runtime(hooks=Hooks(**{hook: lambda one: "Not today" if one.task == "search" else None}))
    receipt = radar.receive(received("REQ"))
    assert (receipt.outcome, receipt.code, codes(receipt)) == ("refused", code, [code])
    assert radar.lifecycle.tasks == ()


@pytest.mark.spec("CLOWL-062", "CLOWL-058", "CLOWL-046")
def test_tasks_that_are_not_supported_running_already_or_broken_have_their_codes():
    radar = runtime()
    assert codes(radar.receive(received("REQ", t="dance"))) == ["E005"]
    assert radar.receive(received("REQ", t="dance", mid="m9", to="*")).answers == ()
    assert radar.receive(received("REQ")).outcome == "process"
    assert codes(radar.receive(received("REQ", mid="m2"))) == ["E011"]
    assert radar.receive(received("REQ", mid="m3", d={"q": "other"})).outcome == "process"
    assert radar.failed(message()).data["code"] == "E009"
    late = runtime()
    late.receive(received("REQ"), deadline=5)
    (error,) = late.expire(5)
    assert (error.data["code"], error.to, error.parent, error.cid) == ("E006", "oscar", "m1", "c1")


@pytest.mark.spec("CLOWL-052", "CLOWL-062")
def test_a_task_that_comes_back_is_answered_e015_and_not_started():
    radar = runtime()
    receipt = radar.receive(received("DLGT", d={"delegation_mode": "fork", "chain": ["radar", "muse"]}))
    assert codes(receipt) == ["E015"]
    assert radar.lifecycle.tasks == ()


@pytest.mark.spec("CLOWL-070", "CLOWL-068")
def test_a_message_is_processed_once_and_another_with_its_mid_is_dropped_without_an_error():
    radar = runtime()
    assert radar.receive(received("REQ")).outcome == "process"
    again = radar.receive(received("REQ"))
    assert (again.outcome, again.answers, again.step.violations) == ("duplicate", (), ())
    other = radar.receive(received("REQ", t="analyze"))
    assert (other.outcome, other.answers) == ("duplicate", ())
    assert [flag.kind for flag in other.step.violations] == ["mid_conflict"]


@pytest.mark.spec("CLOWL-041", "CLOWL-040")
def test_cancellations_are_processed_or_answered():
    radar = runtime()
    radar.receive(received("REQ"))
    assert codes(radar.receive(received("CNCL", mid="c0", pid="m1", from_="eve"))) == ["E002"]
    assert codes(radar.receive(received("CNCL", mid="c1", pid="nothing"))) == ["E008"]
    assert radar.receive(received("CNCL", mid="c2", pid="m1")).outcome == "process"
    radar.send(author("radar").err(message("CNCL", mid="c2", pid="m1"), "E013", "Stopped"))
    late = radar.receive(received("CNCL", mid="c3", pid="m1"))
    assert [(one.p, one.data) for one in late.answers] == [("INF", {"status": "cancelled"})]


@pytest.mark.spec("CLOWL-041", "CLOWL-051", "CLOWL-053")
def test_a_delegator_forwards_a_cancellation_to_the_delegate():
    radar = runtime()
    radar.receive(encode(author("muse").caps(["search"])))
    request = author("oscar").req("radar", "search", {"q": "x"})
    radar.receive(encode(request))
    passed, told = radar.delegate(request, "transfer")
    assert (passed.to, passed.data["chain"], passed.data["reply_to"]) == ("muse", ["radar"], "oscar")
    assert (told.p, told.to, told.task, told.parent) == ("INF", "oscar", "delegated", request.mid)
    radar.send(passed)
    radar.receive(encode(author("muse").ack(passed)))
    (forwarded,) = radar.receive(encode(author("oscar").cncl(request))).answers
    assert (forwarded.p, forwarded.to, forwarded.parent) == ("CNCL", "muse", passed.mid)


@pytest.mark.spec("CLOWL-054")
def test_without_anyone_to_delegate_to_the_requester_gets_e010():
    radar, request = runtime(), author("oscar").req("radar", "search")
    for caps in (author("oscar").caps(["search"]), author("muse").caps(["dance"])):
        radar.receive(encode(caps))
    (error,) = radar.delegate(request, "assist")
    assert (error.data["code"], error.to, error.data["retry"]) == ("E010", "oscar", False)


@pytest.mark.spec("CLOWL-038", "CLOWL-042", "CLOWL-043")
def test_information_is_noted_and_starts_nothing():
    radar = runtime()
    for p in ("INF", "PROG"):
        assert radar.receive(received(p, mid=p)).outcome == "note"
    assert radar.receive(received("QRY", mid="q", t="dance")).outcome == "process"
    assert radar.lifecycle.tasks == ()


@pytest.mark.spec("CLOWL-018", "CLOWL-066")
def test_an_agent_sends_in_its_own_name_and_strictly():
    radar = runtime()
    with pytest.raises(Refused) as refused:
        radar.send(message())
    assert refused.value.code == "E002"
    with pytest.raises(Invalid):
        radar.send(parse(received("DONE", from_="radar")))
    with pytest.raises(Invalid):
        radar.send(parse(received("REQ", from_="radar", prio=1)))


# --- capabilities ---


@pytest.mark.spec("CLOWL-055")
def test_an_agent_announces_itself_on_connection():
    caps = parse(runtime().announce(), strict=True)
    assert (caps.p, caps.to, caps.cid) == ("CAPS", "*", "system")
    assert caps.data == {"supports": ["search", "analyze:trend"], "clowl": "0.2"}


@pytest.mark.spec("CLOWL-057")
def test_entries_fit_exactly_or_by_their_base():
    supports = ["search:web", "draft"]
    assert fits(supports, "search:web")
    assert fits(supports, "search")
    assert fits(supports, "draft")
    assert not fits(["search:web:deep"], "search:web")
    for task in ("search:repo", "Search", "sear", "draft:long", "web", "search:web:deep"):
        assert not fits(supports, task)


@pytest.mark.spec("CLOWL-056", "CLOWL-057")
def test_the_newest_announcement_counts_until_it_is_a_day_old_or_the_agent_leaves():
    known = Capabilities()
    assert known.supports("radar", "search", 0) is None

    def caps(ts, mid, *supports):
        return message(
            "CAPS", {"supports": list(supports), "clowl": "0.2"}, ts=ts, mid=mid, from_="radar", to="*"
        )

    assert known.hear(caps(10, "b", "search"), 0)
    assert not known.hear(caps(9, "z", "old"), 0)
    assert not known.hear(caps(10, "a", "old"), 0)
    assert known.hear(caps(10, "c", "search:web"), 0)
    assert known.supports("radar", "search", LIFETIME - 1) is True
    assert known.supports("radar", "dance", 0) is False
    assert known.supports("radar", "search", LIFETIME) is None
    known.hear(message("CAPS", {"supports": ["search"], "clowl": "0.2"}, from_="zed", to="*"), 0)
    assert known.who_can("search", 0) == ("zed", "radar")
    assert known.who_can("search", 0, without={"zed"}) == ("radar",)
    known.forget("radar")
    assert known.supports("radar", "search", 0) is None


@pytest.mark.spec("CLOWL-056")
def test_a_doubled_version_that_differs_is_e014_and_nothing_is_registered():
    radar = runtime()
    wrong = value("CAPS", {"supports": ["search"], "clowl": "0.1"}, from_="muse", to="*", cid="system")
    receipt = radar.receive(received(wrong))
    assert codes(receipt) == ["E014"]
    assert receipt.answers[0].to == "muse"
    assert radar.capabilities.who_can("search", START) == ()
    right = value(
        "CAPS", {"supports": ["search"], "clowl": "0.2"}, from_="muse", to="radar", mid="m2", t="caps"
    )
    receipt = radar.receive(received(right))
    assert (receipt.outcome, receipt.answers) == ("note", ())
    assert radar.capabilities.who_can("search", START) == ("muse",)
    rows = [warning.row for warning in read(received(right)).warnings]
    assert rows.count("CLOWL-056") == 3


# --- context ---

TEXT = b"the context"
HASH = hashlib.sha256(TEXT).hexdigest()


@pytest.mark.spec("CLOWL-024", "CLOWL-026", "CLOWL-027", "CLOWL-028", "CLOWL-029", "CLOWL-033")
@pytest.mark.parametrize(
    ("context", "fetched", "expected"),
    [
        (Context(ref="a"), Content(TEXT), Usable(TEXT, "ref")),
        (Context(ref="a", inline="x"), Content(TEXT), Usable(TEXT, "ref")),
        (Context(ref="a", hash=HASH), Content(TEXT), Usable(TEXT, "ref")),
        (Context(ref="a", hash=HASH.upper()), Content(TEXT), Usable(TEXT, "ref")),
        (Context(ref="a", hash=HASH), Content(b"other"), "E003"),
        (Context(ref="a", hash=HASH, inline="other"), Content(b"other"), "E003"),
        (Context(ref="a", hash=HASH, inline=TEXT.decode()), Content(b"other"), Usable(TEXT, "inline")),
        (Context(ref="a", inline="x"), Unreachable("gone"), Usable(b"x", "inline")),
        (Context(ref="a", inline=""), Unreachable("gone"), Usable(b"", "inline")),
        (Context(ref="a"), Unreachable("gone"), "E003"),
        (Context(ref="a", inline=None), Unreachable("gone"), "E003"),
        (Context(ref="a", inline="x"), Blocked("outside"), "E016"),
        (Context(inline="x"), None, Usable(b"x", "inline")),
        (Context(inline="x", hash=HASH), None, "E003"),
        (Context(inline=TEXT.decode(), hash=HASH), None, Usable(TEXT, "inline")),
        (Context(ref=None, inline=None, hash=None), None, None),
    ],
)
def test_what_is_used_of_a_context(context, fetched, expected):
    found = judge(context, fetched)
    assert (found.code if isinstance(found, Unusable) else found) == expected
    assert digest(TEXT) == HASH


@pytest.mark.spec("CLOWL-028")
def test_a_wrong_hash_is_named_and_a_guarded_agent_calls_it_a_security_violation():
    context = Context(ref="a", hash=HASH)
    assert "does not match its hash" in judge(context, Content(b"other")).reason
    assert judge(context, Content(b"other"), guarded=True).code == "E016"
    assert judge(context, Unreachable("gone"), guarded=True).code == "E003"


@pytest.mark.spec("CLOWL-031", "CLOWL-032")
def test_a_reference_never_changes_within_a_trace():
    first, second = "0" * 64, "1" * 64
    known = References()
    assert not known.conflicts(message(tid="t", ctx={"ref": "a", "hash": first}))
    assert not known.conflicts(message(tid="t", ctx={"ref": "a", "hash": first.upper()}))
    assert not known.conflicts(message(tid="t", ctx={"ref": "b", "hash": second}))
    assert not known.conflicts(message(tid="u", ctx={"ref": "a", "hash": second}))
    assert not known.conflicts(message(tid="t", ctx={"ref": "a"}))
    assert known.conflicts(message(tid="t", ctx={"ref": "a", "hash": second}))
    radar = runtime()
    radar.receive(received("INF", tid="t", ctx={"ref": "a", "hash": first}))
    assert codes(radar.receive(received("REQ", mid="m2", tid="t", ctx={"ref": "a", "hash": second}))) == [
        "E011"
    ]
    mine = author("radar").inf("oscar", "x", tid="t", ctx=Context(ref="a", hash=second))
    with pytest.raises(Refused) as refused:
        radar.send(mine)
    assert refused.value.code == "E011"


@pytest.mark.spec("CLOWL-030")
def test_inline_context_is_counted_and_logged_without_its_content(caplog):
    registry = CollectorRegistry()
    radar = runtime(monitor=InlineMonitor(registry))
    one = author("radar").inf("oscar", "x", ctx=Context(inline="secret words"))
    with caplog.at_level(logging.WARNING):
        radar.send(one)
        radar.used_inline(message(ctx={"inline": "more"}))
        radar.used_inline(message(ctx={"ref": "a"}))
    count = registry.get_sample_value
    assert count("tacit_clowl_inline_context_total", {"direction": "sent"}) == 1
    assert count("tacit_clowl_inline_context_total", {"direction": "used"}) == 1
    assert f"mid={one.mid} length=12" in caplog.text
    assert "secret words" not in caplog.text


@pytest.mark.spec("CLOWL-033")
async def test_files_come_from_below_the_root_only(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a b.md").write_bytes(TEXT)
    (tmp_path / "secret").write_bytes(b"no")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "in").symlink_to(root / "a b.md")
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    files = Resolvers({"file": FileResolver(root, max_bytes=20)})
    (root / "large").write_bytes(b"x" * 21)
    for ref in ("a b.md", f"{root}/a b.md", f"file://{root}/a%20b.md", "in"):
        assert await files.fetch(ref) == Content(TEXT)
    for ref in (
        "../secret",
        "out",
        str(tmp_path / "secret"),
        "x/../../secret",
        "folder/../a b.md",
        f"file://{root}/%2e%2e/secret",
        "a\0b",
    ):
        assert isinstance(await files.fetch(ref), Blocked), ref
    for ref in ("missing", "folder", "pipe", "large", "https://x.example/a", "ftp://x/a", "x" * 5000):
        assert isinstance(await files.fetch(ref), Unreachable), ref


LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
async def site():
    async def content(request):
        return web.Response(body=TEXT)

    async def large(request):
        return web.Response(body=b"x" * 2000)

    async def hang(request):
        await asyncio.sleep(30)
        return web.Response()

    def hop(target):
        async def handler(request):
            raise web.HTTPFound(target.format(port=request.url.port))

        return handler

    app = web.Application()
    app.router.add_get("/a", content)
    app.router.add_get("/large", large)
    app.router.add_get("/hang", hang)
    app.router.add_get("/hop", hop("/a"))
    app.router.add_get("/loop", hop("/loop"))
    app.router.add_get("/away", hop("http://127.0.0.2:{port}/a"))
    app.router.add_get("/file", hop("file:///etc/passwd"))
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    server = web.TCPSite(runner, "127.0.0.1", 0)
    await server.start()
    yield runner.addresses[0][1]
    await runner.cleanup()


@pytest.mark.spec("CLOWL-033")
async def test_http_goes_to_allowed_hosts_with_public_addresses_within_limits(site):
    allowed = HttpResolver(["127.0.0.1", "localhost"], networks=LOOPBACK, max_bytes=1000, max_seconds=1)
    for name in ("a", "hop"):
        assert await allowed.fetch(f"http://127.0.0.1:{site}/{name}") == Content(TEXT)
    assert await allowed.fetch(f"http://localhost:{site}/a") in (
        Content(TEXT),
        Blocked("the address is not public"),
    )
    for ref in (
        "http://127.0.0.2:{}/a",
        "http://127.0.0.1:{}/away",
        "http://127.0.0.1:{}/file",
        "http://u@127.0.0.1:{}/a",
    ):
        assert isinstance(await allowed.fetch(ref.format(site)), Blocked), ref
    for ref in ("missing", "large", "loop", "hang"):
        assert isinstance(await allowed.fetch(f"http://127.0.0.1:{site}/{ref}"), Unreachable), ref
    assert isinstance(await allowed.fetch("http://127.0.0.1:1/a"), Unreachable)
    guarded = HttpResolver(["127.0.0.1", "localhost"])
    for host in ("127.0.0.1", "localhost"):
        assert await guarded.fetch(f"http://{host}:{site}/a") == Blocked("the address is not public")


# --- the semantic layer ---


def draft(**members):
    return json.dumps({"p": "REQ", "to": "muse", "body": {"t": "draft", "d": {}}, **members})


@pytest.mark.spec("CLOWL-082", "CLOWL-083")
def test_the_runtime_writes_the_metadata_whatever_the_model_wrote():
    forged = {
        "clowl": "9.9",
        "mid": "x",
        "ts": 1,
        "tid": "x",
        "pid": "x",
        "from": "boss",
        "cid": "x",
        "auth": "x",
        "det": True,
    }
    one = complete(draft(**forged), author("radar"), Handles(), cid="c7", auth="tok").message
    assert (one.clowl, one.from_, one.ts, one.cid, one.auth) == ("0.2", "radar", START, "c7", "tok")
    assert one.parent is None
    assert not one.is_reproducible
    assert "x" not in (one.mid, one.tid)
    assert complete(draft(), author("radar"), Handles(), det=True).message.is_reproducible


@pytest.mark.spec("CLOWL-083")
def test_a_handle_stands_for_the_message_answered():
    handles = Handles()
    request = author("oscar").req("radar", "search")
    assert handles.give(request) == "m1"
    one = complete(draft(p="DONE", to="oscar", re="m1"), author("radar"), handles).message
    assert (one.parent, one.cid, one.trace) == (request.mid, request.cid, request.trace)
    for unknown in ("m2", "m0", "m", "x", 1, "m" + "9" * 5000, "m²"):
        (fault,) = complete(draft(re=unknown), author("radar"), handles).faults
        assert fault.path == "$.re"


@pytest.mark.spec("CLOWL-086")
def test_faults_go_back_to_the_model_twice_and_then_the_caller_is_told():
    drafting = Drafting(author("radar"), Handles())
    for output in ("Sure, here it is!", draft(p="ASK")):
        told = drafting.take(output)
        assert isinstance(told, str)
        assert "was not sent" in told
    with pytest.raises(Unwritable) as failed:
        drafting.take(draft(p="DLGT"))
    assert failed.value.code == "E009"
    assert failed.value.details["faults"][0]["path"] == "$.body.d.delegation_mode"
    assert unsent(author("radar"), message()).data["code"] == "E009"
    second = Drafting(author("radar"), Handles())
    second.take("no")
    assert second.take(draft()).task == "draft"
    assert "$.p" in feedback(complete(draft(p="ASK"), author("radar"), Handles()))


# --- repair ---

GOOD = json.dumps(value(d={"note": "it's // not a comment, 'really', [1,]"}))


@pytest.mark.spec("CLOWL-066", "CLOWL-086")
@pytest.mark.parametrize(
    ("spoilt", "repairs"),
    [
        (f"```json\n{GOOD}\n```", 1),
        (f"Sure! Here is the message:\n```json\n{GOOD}\n```\nAnything else?", 1),
        (f"Here you go: {GOOD} Bye {{}}!", 2),
        (GOOD[:-1] + ",}", 1),
        (GOOD[:-1] + " , \n } // end", 2),
        (GOOD.replace('{"clowl"', '{ /* version */ "clowl"'), 1),
        (GOOD.replace('"oscar"', "'oscar'"), 1),
        (GOOD.replace('"c1"', "'c1'").replace('"radar"', "['radar', ]"), 2),
        ("\ufeff" + GOOD, 1),
        (GOOD[:-1] + ', "det": True, "tid": None}', 1),
        (GOOD.replace('"oscar"', "'os\\'c\"ar'"), 1),
    ],
)
def test_what_models_write_is_mended_and_each_repair_reported(spoilt, repairs):
    reading = read_repaired(spoilt)
    assert reading.message is not None
    assert reading.message.data == json.loads(GOOD)["body"]["d"]
    mended = [warning for warning in reading.warnings if warning.row == "CLOWL-066"]
    assert len(mended) == repairs
    if not spoilt.startswith("```"):
        assert read(spoilt).message is None


@pytest.mark.spec("CLOWL-066", "CLOWL-068")
@pytest.mark.parametrize(
    "broken",
    [GOOD[:-1] + ',"mid":"m2"}', GOOD[:-3], "no object", GOOD.replace('"REQ"', '"ASK"'), "/*" * 20000, '{"' * 20000,
     "{'" * 20000, "{" + "'\\" * 500_000, "```\n" * 20000, "```\n" + " " * 1_000_000, "```\n```" + "\t" * 1_000_000 + "x",
     "{'a\n" * 200_000, "{" + "'a" * 20000 + "\\"],
)  # fmt: skip
def test_nothing_is_guessed_and_nothing_hidden(broken):
    assert read_repaired(broken).message is None
    assert read_repaired(broken) == read(broken)


# --- v0.1 ---


@pytest.mark.spec("CLOWL-090")
def test_v01_is_lifted_only_when_asked_and_each_change_is_reported():
    old = {
        "cl": "0.1",
        "mid": "m1",
        "p": "REQ",
        "from": "a",
        "to": "b",
        "cid": "c",
        "body": {"t": "x-y", "d": {}},
        "ctx": "a.md",
    }
    assert read(json.dumps(old)).code == "E014"
    reading = read_v01(json.dumps(old), received=START)
    assert (reading.message.clowl, reading.message.ts, reading.message.context.reference) == (
        "0.2",
        START,
        "a.md",
    )
    assert [warning.path for warning in reading.warnings if warning.row == "CLOWL-090"] == [
        "$.cl",
        "$.ctx",
        "$.ts",
    ]
    assert read_v01(json.dumps({**old, "cl": "0.0"}), received=START).code == "E014"
    assert read_v01(json.dumps(value()), received=START).message is not None
    assert read_v01("{", received=START).code == "E001"
    assert read_v01(json.dumps({**old, "ctx": "", "ts": 5}), received=START).message.ts == 5


# --- carriage ---


@pytest.mark.spec("CLOWL-092", "CLOWL-018")
def test_inside_a2acp_and_mcp_the_sender_is_the_authenticated_one():
    one = message()
    for into, out_of in ((into_a2acp, from_a2acp), (into_mcp, from_mcp)):
        assert out_of(into(one), sender="oscar").message == one
        assert out_of(into(one), sender="eve").code == "E002"
        assert out_of({}, sender="oscar").code == "E001"
    assert into_a2acp(one) == {"clowl": to_value(one)}
    assert into_mcp(one) == {"message": to_value(one)}
    assert from_authenticated(value(ts="x"), sender="oscar").code == "E001"


ODD = message(d={"text": 'é😀 line\nbreak : "quoted" \u2028'}, ctx={"ref": "a b"})


@pytest.mark.spec("CLOWL-091")
def test_the_same_bytes_pass_over_standard_output():
    program = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.readline())"
    done = subprocess.run(
        [sys.executable, "-c", program], input=to_line(ODD), capture_output=True, check=True
    )
    assert done.stdout == encode(ODD) + b"\n"
    assert parse(done.stdout) == ODD


@pytest.mark.spec("CLOWL-091")
def test_the_same_bytes_pass_through_a_file(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(to_line(ODD) * 3)
    with path.open("rb") as stream:
        lines = [data for piece in pieces(stream) for _, data in piece.lines()]
    assert lines == [encode(ODD)] * 3


@pytest.mark.spec("CLOWL-091")
async def test_the_same_bytes_pass_over_http_and_websocket():
    async def echo(request):
        return web.Response(body=await request.read(), content_type="application/json")

    async def socket(request):
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        async for frame in ws:
            await ws.send_str(frame.data)
        return ws

    app = web.Application()
    app.router.add_post("/", echo)
    app.router.add_get("/ws", socket)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession() as session:
        async with session.post(url, data=encode(ODD)) as response:
            assert await response.read() == encode(ODD)
        async with session.ws_connect(f"{url}/ws") as ws:
            await ws.send_str(encode(ODD).decode())
            assert (await ws.receive_str()).encode() == encode(ODD)
    await runner.cleanup()


@pytest.mark.spec("CLOWL-091")
def test_the_core_does_no_input_or_output():
    import ast
    from pathlib import Path

    import tacit.language

    forbidden = {
        "os",
        "io",
        "socket",
        "asyncio",
        "threading",
        "time",
        "random",
        "aiohttp",
        "pathlib",
        "subprocess",
        "logging",
    }
    for path in Path(tacit.language.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not {alias.name.split(".")[0] for alias in node.names} & forbidden, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in forbidden, path
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "print", "input"}, path


def test_logs_are_cut_into_whole_lines_and_documents_are_kept_whole():
    def lines(data, size=64):
        return [found for piece in pieces(io.BytesIO(data), size=size) for found in piece.lines()]

    one = encode(message())
    assert lines(one + b"\n\n" + one) == [(1, one), (3, one)]
    assert lines(b"") == []
    pretty = json.dumps(value(), indent=2).encode()
    assert lines(pretty) == [(1, pretty)]
    assert [number for number, _ in lines(json.dumps([value(), value()]).encode())] == [1, 2]
    fenced = b"```json\n" + pretty + b"\n```"
    assert lines(fenced) == [(1, fenced)]
    assert lines(b'{"a":\n' + one + b"\n") == [(1, b'{"a":'), (2, one)]
    huge = b"x" * (2 * 1024 * 1024)
    found = lines(one + b"\n" + huge + b"\n" + one + b"\n", size=65536)
    assert [number for number, _ in found] == [1, 2, 3]
    assert found[2] == (3, one)
    assert len(found[1][1]) < len(huge)
    assert read(found[1][1]).faults[0].reason == "is larger than 1 MiB"
    assert read_value(value()).message is not None
    assert Clock().seconds == START
