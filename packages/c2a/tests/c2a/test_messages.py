"""What travels, written and read back in both drafts; what a receiver must refuse; what is told."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.errors import PeerFault
from tacit.base.moment import Moment
from tacit.c2a.delivery_shape import faults
from tacit.c2a.messages import (
    Accepted,
    Author,
    Connected,
    Delivered,
    DispositionReport,
    Earlier,
    Initialize,
    Knock,
    Part,
    accepts,
    encode,
    read_connected,
    read_content,
    read_delivered,
    read_initialize,
    text_of,
    wire_kind,
    wire_policy,
)
from tacit.c2a.vocabulary import (
    NEWER,
    OLDER,
    AuthorKind,
    ConversationKind,
    Directedness,
    Mode,
    Policy,
    Priority,
    Reason,
)
from tests.c2a_peer import delivery

WORD = st.text(min_size=1, max_size=12)
MAYBE = st.none() | WORD
MOMENTS = st.integers(1, 4_000_000_000_000_000).map(Moment)
PARTS = st.lists(
    st.builds(Part, st.just("text"), st.text(max_size=20))
    | st.builds(Part, st.sampled_from(["image", "file", "text"]), st.none(), st.text(max_size=12)),
    max_size=3,
).map(tuple)
AUTHORS = st.builds(Author, WORD, st.sampled_from(AuthorKind), st.text(max_size=12))
KNOCKS = st.builds(Knock, *([st.text(max_size=12)] * 6), WORD, st.integers(1, 9))
WINDOWS = st.lists(st.builds(Earlier, WORD, AUTHORS, PARTS, st.text(max_size=12)), max_size=2).map(tuple)
SHOWN = st.sampled_from([Mode.IMMEDIATE, Mode.BUFFERED, Mode.DIGEST])


@st.composite
def deliveries(draw: st.DrawFn) -> Delivered:
    knocks = draw(st.booleans())
    thread, in_thread = draw(MAYBE), draw(st.booleans())
    flat = in_thread and not thread
    return Delivered(
        event_id=draw(WORD),
        conversation=draw(WORD),
        kind=draw(st.sampled_from(ConversationKind)),
        author=draw(AUTHORS),
        directedness=draw(st.sampled_from(Directedness)),
        policy=draw(st.sampled_from(Policy)),
        mode=Mode.NOTIFY if knocks else draw(SHOWN),
        reason=draw(st.sampled_from(Reason)).value,
        priority=draw(st.sampled_from(Priority)),
        created_at=draw(MOMENTS),
        idempotency_key=draw(WORD),
        content=None if knocks else draw(PARTS),
        thread=thread,
        stream=draw(MAYBE),
        deadline_ms=draw(st.none() | st.integers(0, 10**9)),
        sequence=draw(st.integers(0, 2**40)),
        attempt=draw(st.integers(1, 99)),
        supersedes=draw(MAYBE),
        signal=None if knocks else draw(MAYBE),
        knock=draw(KNOCKS) if knocks else None,
        mentions=tuple(draw(st.lists(WORD, max_size=3))),
        recipient=draw(MAYBE),
        window=() if knocks or flat else draw(WINDOWS),
        before=None if knocks else draw(st.none() | WINDOWS),
        in_thread=in_thread,
        needs_claim=draw(st.booleans()),
        reply_target=draw(WORD),
        parties=tuple(sorted(draw(st.sets(WORD, max_size=3)))),
        group=draw(st.text(max_size=12)),
    )


def as_said(value: Delivered, version: str) -> Delivered:
    """What of a delivery a draft can say: all of it, but for the parts of a content, kinds and `ack_only`."""

    def said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        text = text_of(parts)
        return parts if version == OLDER else (Part(text=text),) if text else ()

    policy = wire_policy(value.policy, version)
    return replace(
        value,
        policy=policy,
        kind=wire_kind(value.kind, value.directedness, version),
        content=None if value.content is None else said(value.content),
        knock=None if value.knock is None else replace(value.knock, policy=policy.value),
        window=tuple(replace(one, content=said(one.content)) for one in value.window),
        before=None
        if value.before is None
        else tuple(replace(one, content=said(one.content)) for one in value.before),
    )


@pytest.mark.spec("C2A-029", "C2A-032", "C2A-035", "C2A-044", "C2A-055")
@given(value=deliveries(), version=st.sampled_from([NEWER, OLDER]))
def test_a_delivery_read_back_is_what_the_draft_can_say_of_it(value: Delivered, version: str) -> None:
    params = msgspec.json.decode(msgspec.json.encode(encode(value, version)))
    assert faults(params) == []
    assert read_delivered(params) == as_said(value, version)


@given(value=deliveries())
def test_the_older_draft_says_everything_and_the_newer_all_but_three_things(value: Delivered) -> None:
    older, newer = as_said(value, OLDER), as_said(value, NEWER)
    policy = value.policy.value
    knock = None if value.knock is None else replace(value.knock, policy=policy)
    assert older == replace(value, knock=knock)
    differs = {one.name for one in fields(Delivered) if getattr(older, one.name) != getattr(newer, one.name)}
    assert differs <= {"kind", "policy", "content", "window", "before", "knock"}
    assert newer.text == older.text
    assert as_said(newer, NEWER) == newer


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=4,
)
PLACES = [
    (name, member)
    for name, value in delivery().items()
    for member in [None, *(value if isinstance(value, dict) else ())]
]


@pytest.mark.spec("C2A-030")
@given(place=st.sampled_from(PLACES), odd=JSON, knock=JSON, window=JSON)
def test_what_has_no_fault_can_be_read_whatever_else_is_in_it(
    place: tuple[str, str | None], odd: Any, knock: Any, window: Any
) -> None:
    params: dict[str, Any] = {**delivery(), "knock": knock, "threadWindow": window}
    name, member = place
    params[name] = odd if member is None else {**params[name], member: odd}
    if faults(params):
        return
    assert isinstance(read_delivered(params), Delivered)


@pytest.mark.parametrize(
    ("odd", "path"),
    [
        ({"conversation__kind": "podcast"}, "conversation.kind"),
        ({"target__directedness": ["to_me"]}, "target.directedness"),
        ({"injection__mode": {}}, "injection.mode"),
        ({"reliability__attempt": "x"}, "reliability.attempt"),
        ({"timing__sequence": [1]}, "timing.sequence"),
        ({"target__mentions": 7}, "target.mentions"),
        ({"attention__policy": "perhaps", "policy": "perhaps"}, "attention.policy"),
    ],
)
@pytest.mark.spec("C2A-030")
def test_what_cannot_be_read_is_named_by_its_path(odd: dict[str, Any], path: str) -> None:
    params = delivery("e1", **odd)
    assert path in faults(params)
    with pytest.raises(PeerFault, match=path):
        read_delivered(params)


@pytest.mark.spec("C2A-071", "C2A-153")
def test_that_a_claim_is_needed_is_said_in_attention_and_only_when_it_is() -> None:
    value = read_delivered(delivery())
    assert "needsClaim" not in encode(value)["attention"]
    asked = encode(replace(value, needs_claim=True))
    assert asked["attention"]["needsClaim"] is True
    assert read_delivered(asked).needs_claim


@pytest.mark.spec("C2A-033", "C2A-039", "C2A-096")
def test_what_a_host_leaves_out_or_invents_has_a_meaning() -> None:
    value = read_delivered(
        delivery("e1", author__kind="robot", attention__priority="panic", replyTarget=None)
    )
    assert (value.author.kind, value.priority) == (AuthorKind.SYSTEM, Priority.NORMAL)
    assert value.reply_target == "conversation:g1"
    threaded = delivery("e1", conversation__threadId="e0", replyTarget=None)
    assert read_delivered(threaded).reply_target == "thread:e0"


@pytest.mark.spec("C2A-035")
def test_a_content_is_one_text_in_either_draft() -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image", "title": "graph"}, "x"]
    assert read_content(parts) == "look\n[image: graph]"
    assert read_content("look") == "look"
    assert read_content(None) == ""
    # An attachment whose kind is `text` has a title and no words.
    assert read_content([{"type": "text", "title": "notes.txt"}]) == "[text: notes.txt]"
    assert read_delivered(delivery("e1")).with_text("new").text == "new"


@pytest.mark.spec("C2A-160")
@pytest.mark.parametrize("result", [None, [], {}, {"accepted": 1}, {"accepted": "yes"}, "accepted"])
def test_only_a_plain_yes_accepts(result: object) -> None:
    assert not accepts(result)
    assert accepts(Accepted("e1", duplicate=True).members())


@pytest.mark.spec("C2A-019", "C2A-027")
@given(last=st.none() | WORD, name=WORD, version=WORD)
def test_a_greeting_read_back_is_the_same(last: str | None, name: str, version: str) -> None:
    greeting = Initialize(NEWER, name, version, {"delivery": {"ack": True}}, last)
    assert read_initialize(greeting.members()) == greeting


@pytest.mark.spec("C2A-019")
def test_a_greeting_that_lacks_something_says_what() -> None:
    assert read_initialize({"clientInfo": {"name": 1, "version": "1"}}) == [
        "protocolVersion",
        "capabilities",
        "clientInfo.name",
    ]


@pytest.mark.spec("C2A-024")
def test_the_answer_to_a_greeting_read_back_is_the_same() -> None:
    answer = Connected(NEWER, {"delivery": {"ack": True}}, {"id": "ada", "settings": {"a": 1}}, {"name": "t"})
    assert read_connected(answer.members()) == answer
    assert answer.settings == {"a": 1}
    assert read_connected(None) == Connected("", {}, {})


@pytest.mark.spec("C2A-117")
def test_a_report_says_only_what_is_known() -> None:
    assert DispositionReport("e1", "ignored").members() == {"eventId": "e1", "disposition": "ignored"}
    merged = DispositionReport("e1", "superseded", merged_into="e2").members()
    assert merged == {"eventId": "e1", "disposition": "superseded", "mergedInto": "e2"}


@pytest.mark.spec("C2A-173")
@given(deliveries(), st.one_of(st.none(), st.integers(0, 10**9)))
def test_a_deadline_counts_milliseconds_from_when_the_event_was_written(
    one: Delivered, wait: int | None
) -> None:
    due = replace(one, deadline_ms=wait).deadline_at
    assert due == (None if wait is None else one.created_at + wait * 1_000)


@pytest.mark.spec("C2A-223")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("x" * 1_200, "x" * 1_200),
        ("x" * 1_201, "x" * 1_200 + " [... cut]"),
        # No letter is cut in two.
        ("x" * 1_199 + "éé", "x" * 1_199 + " [... cut]"),
    ],
)
def test_an_earlier_line_is_shown_as_far_as_it_fits(said: str, shown: str) -> None:
    line = Earlier("e1", Author("ann", AuthorKind.HUMAN, "Ann"), (Part(text=said),), "2026-01-13T10:00:00Z")
    assert line.cut().text == shown
