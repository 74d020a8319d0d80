"""Reconstruction: trees from a heap, broken links marked, and every form of output."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tacit.language import Context, encode, parse, reconstruct
from tacit.language.io.opentelemetry import export
from tacit.language.spans import otlp, span_id, trace_id
from tacit.language.task import TaskKey
from tacit.language.trace_data import chronicle_value
from tacit.language.trace_html import page
from tacit.language.trace_text import chronicle_lines, duration, mermaid, timeline, tree_lines
from tests.language.cast import START, Clock, author, message


def story():
    """A search, an analysis handed over in another conversation, and a question on the way."""
    clock = Clock()
    oscar, radar, muse = (author(name, clock) for name in ("oscar", "radar", "muse"))

    def after(seconds):
        clock.seconds += seconds

    request = oscar.req(
        "radar", "search", {"q": "x"}, cid="c1", tid="t1", auth="tok-3n", ctx=Context(ref="a.md")
    )
    after(2)
    ack = radar.ack(request)
    after(3)
    passed = radar.dlgt("muse", "analyze", "transfer", parent=request, cid="c2")
    after(1)
    taken = muse.ack(passed, to="radar")
    query = oscar.qry("muse", "status", parent=passed)
    after(1)
    answer = muse.inf("oscar", "status", {"state": "busy"}, parent=query)
    after(30)
    done = muse.done(passed, {"angle": "new"}, to="oscar")
    return [request, ack, passed, taken, query, answer, done]


def shape(tree):
    return [(entry.mid, entry.depth) for entry in tree.entries]


@pytest.mark.spec("CLOWL-076", "CLOWL-077")
def test_conversations_and_traces_are_rebuilt_as_trees_over_pid():
    request, ack, passed, taken, query, answer, done = story()
    found = reconstruct([done, query, passed, answer, ack, taken, request])
    assert shape(found.traces["t1"]) == [
        (request.mid, 0), (ack.mid, 1), (passed.mid, 1), (taken.mid, 2), (query.mid, 2), (answer.mid, 3), (done.mid, 2),
    ]  # fmt: skip
    assert shape(found.conversations["c1"]) == [(request.mid, 0), (ack.mid, 1)]
    assert shape(found.conversations["c2"])[0] == (passed.mid, 0)
    assert found.conversations["c2"].entries[0].flags == ("continues",)
    assert found.traces["t1"].agents == ("oscar", "radar", "muse")
    assert found.traces["t1"].conversations == ("c1", "c2")
    assert found.violations == ()
    assert [(task.name, task.state, task.owner, task.duration) for task in found.tasks] == [
        ("search", "completed", "muse", 37), ("analyze", "completed", "muse", 32),
    ]  # fmt: skip


@pytest.mark.spec("CLOWL-076", "CLOWL-078", "CLOWL-079")
@given(st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_any_order_of_arrival_gives_the_same_result(order):
    messages = story()
    expected = list(chronicle_lines(reconstruct(messages)))
    order.shuffle(messages)
    assert list(chronicle_lines(reconstruct(messages))) == expected
    log = b"".join(encode(one) + b"\n" for one in messages + messages)
    assert list(chronicle_lines(reconstruct(map(parse, log.splitlines())))) == expected


@pytest.mark.spec("CLOWL-078")
def test_siblings_come_by_time_then_mid_and_parents_before_children():
    messages = [
        message(mid="r", ts=100), message("PROG", mid="b", ts=102, pid="r", from_="radar", to="oscar"),
        message("PROG", mid="a", ts=102, pid="r", from_="radar", to="oscar"),
        message("ACK", mid="z", ts=101, pid="r", from_="radar", to="oscar"),
        message("DONE", mid="early", ts=99, pid="r", from_="radar", to="oscar"),
    ]  # fmt: skip
    found = reconstruct(reversed(messages))
    assert [one.mid for one in found.timeline] == ["r", "early", "z", "a", "b"]
    assert ("clock_skew", "early") in {(flag.kind, flag.mid) for flag in found.violations}


@pytest.mark.spec("CLOWL-078")
def test_missing_parents_have_a_placeholder():
    found = reconstruct([message("ACK", mid="x", pid="gone"), message("DONE", mid="y", pid="gone")])
    tree = found.conversations["c1"]
    assert shape(tree) == [("gone", 0), ("x", 1), ("y", 1)]
    assert tree.entries[0].message is None
    assert "missing_parent" in tree.entries[1].flags
    assert "(message gone is missing)" in "\n".join(tree_lines(tree))


@pytest.mark.spec("CLOWL-078")
def test_a_loop_of_parents_is_cut_at_its_earliest_message():
    loop = [
        message("INF", mid=mid, ts=ts, pid=pid)
        for mid, ts, pid in (("a", 3, "c"), ("b", 1, "a"), ("c", 2, "b"))
    ]
    tail = message("INF", mid="d", ts=9, pid="a")
    found = reconstruct([*loop, tail, message("INF", mid="self", pid="self")])
    assert [(flag.kind, flag.mid) for flag in found.violations if flag.kind == "pid_loop"] == [
        ("pid_loop", "b"), ("pid_loop", "self"),
    ]  # fmt: skip
    assert shape(found.conversations["c1"])[:4] == [("b", 0), ("c", 1), ("a", 2), ("d", 3)]


@pytest.mark.spec("CLOWL-008", "CLOWL-078", "CLOWL-014")
def test_a_parent_elsewhere_is_legal_within_one_trace_only():
    def flags(**members):
        parent = message(mid="r", tid="t", cid="c1")
        reply = message(
            "ACK", mid="a", pid="r", from_="radar", to="oscar", **{"tid": "t", "cid": "c1", **members}
        )
        return {flag.kind for flag in reconstruct([reply, parent]).violations}

    assert flags() == set()
    assert flags(cid="c2") == set()
    assert flags(tid="u") == {"trace_mismatch"}
    assert flags(tid=...) == {"trace_mismatch"}
    assert flags(cid="c2", tid="u") == {"trace_mismatch", "foreign_parent"}


@pytest.mark.spec("CLOWL-068", "CLOWL-079")
def test_the_first_message_with_a_mid_wins():
    found = reconstruct([message(mid="r", t="one"), message(mid="r", t="two"), message(mid="r", t="one")])
    assert [task.name for task in found.tasks] == ["one"]
    assert [flag.kind for flag in found.violations] == ["mid_conflict"]


@pytest.mark.spec("CLOWL-079", "CLOWL-018")
def test_no_output_holds_a_token():
    found = reconstruct(story())
    outputs = [
        "\n".join(chronicle_lines(found)), page(found), json.dumps(chronicle_value(found)),
        json.dumps(otlp(found.traces.values())), "\n".join(mermaid(found.traces["t1"])), repr(found),
    ]  # fmt: skip
    assert not any("tok-3n" in output for output in outputs)
    assert all("radar" in output for output in outputs)


@pytest.mark.spec("CLOWL-079")
def test_the_timeline_is_time_and_reading_and_the_tree_says_what_became_of_each_task():
    found = reconstruct(story())
    first = next(timeline(found.timeline))
    assert first == '2024-02-28T00:00:00Z oscar asks radar to do search (q="x"). Context: a.md.'
    text = "\n".join(chronicle_lines(found))
    assert "trace t1: 7 messages, 3 agents, 2 conversations, 2 tasks, 37 s" in text
    assert "search: oscar asked radar → muse; completed after 37 s" in text
    assert "analyze, transfer: radar asked muse; completed after 32 s" in text


@pytest.mark.spec("CLOWL-079")
def test_what_is_owed_retried_and_violated_is_in_the_data():
    data = chronicle_value(
        reconstruct(
            [message(mid="r", tid="t"), message("DONE", mid="d", pid="r", from_="eve", to="oscar", tid="t")]
        )
    )
    (trace,) = data["traces"]
    assert trace["owed"][0] == {
        "debtor": "radar", "creditor": "oscar", "owes": "outcome", "task": "search", "about": "r", "since": START,
    }  # fmt: skip
    assert trace["tasks"][0]["state"] == "requested"
    assert (trace["tasks"][0]["attempt"], trace["tasks"][0]["duration"]) == (1, None)
    assert [flag["kind"] for flag in trace["violations"]] == ["not_owner"]
    json.dumps(data)


HOSTILE = '"><script>alert(1)</script>&\n\u202e;#%%{}'


def hostile():
    name = "<img src=x onerror=alert(1)>"
    return [
        message(
            mid=name, tid=name, from_=name, to=[name + "2", "b"], t="</style>;A->>B: x", d={HOSTILE: HOSTILE}
        ),
        message(
            "ERR",
            {"code": "E009", "msg": HOSTILE, "retry": False},
            mid="e",
            pid=name,
            tid=name,
            from_="b",
            to=name,
        ),
    ]


@pytest.mark.spec("CLOWL-075", "CLOWL-079")
def test_hostile_messages_stay_text_on_the_page_and_in_the_diagram():
    found = reconstruct(hostile())
    html = page(found)
    assert "<script" not in html
    assert "<img" not in html
    assert html.count("</style>") == 1
    assert "\u202e" not in html
    assert re.search(r"(https?:)?//(?!www\.w3)", html.split("</style>")[1].split("<section")[0]) is None
    lines = list(mermaid(found.traces[hostile()[0].trace]))
    assert len(lines) == 1 + 3 + 2 + 1
    assert all(
        re.fullmatch(r"[^;<>\n]*(#\d+;[^;<>\n]*)*", line.replace("->>", "").replace("--x", ""))
        for line in lines
    )
    assert all(len(line.splitlines()) == 1 for line in tree_lines(found.traces[hostile()[0].trace]))


def test_very_long_chains_are_no_trouble():
    chain = [message("INF", mid="m0", tid="t")]
    chain += [message("INF", mid=f"m{n}", pid=f"m{n - 1}", tid="t", to=f"a{n}") for n in range(1, 3000)]
    random.Random(1).shuffle(chain)
    found = reconstruct(chain)
    assert found.traces["t"].entries[-1].depth == 2999
    assert len(list(chronicle_lines(found))) > 3000
    assert max(map(len, chronicle_lines(found))) < 400


@pytest.mark.spec("CLOWL-079")
def test_tasks_become_spans_with_their_parents_and_events():
    found = reconstruct(story())
    exporter = InMemorySpanExporter()
    export(found.traces.values(), exporter)
    search, analyze = exporter.get_finished_spans()
    assert (search.name, analyze.name) == ("search", "analyze")
    assert analyze.parent.span_id == search.context.span_id
    assert search.context.trace_id == int(trace_id("t1"), 16) == analyze.context.trace_id
    assert search.start_time == START * 10**9
    assert search.end_time - search.start_time == 37 * 10**9
    assert search.status.is_ok
    assert [event.name for event in search.events] == ["REQ", "ACK", "DLGT"]
    assert otlp(found.traces.values()) == otlp(reconstruct(story_again(found)).traces.values())
    assert span_id(TaskKey("a", "bc")) != span_id(TaskKey("ab", "c"))


def story_again(found):
    return reversed(found.timeline)


def test_durations_are_short_to_read():
    assert [duration(seconds) for seconds in (0, 119, 120, 90 * 60, 3 * 3600, 2 * 86400)] == [
        "0 s", "119 s", "2 min", "90 min", "3 h", "2 d",
    ]  # fmt: skip


def test_an_empty_heap_is_an_empty_page():
    found = reconstruct([])
    assert list(chronicle_lines(found)) == []
    assert "There are no messages" in page(found)
