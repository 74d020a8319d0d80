"""What leaves the house: knocks, digests, deliveries, redaction, approvals, rates, negotiation."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention import decide
from tacit.attention.decide.delivery import delivered as made_of
from tacit.attention.decide.delivery import thread_window
from tacit.attention.decide.digest import Item, digest_of, next_at, permitted, scope_of
from tacit.attention.decide.knock import collapsed, knock_of, topic_of
from tacit.attention.decide.modes import content_shown, is_listed, is_pushed, may_use
from tacit.attention.decide.rates import Flow, inbound
from tacit.attention.decide.redaction import redacted
from tacit.attention.read.conversation import Conversation
from tacit.attention.settings import Settings
from tacit.attention.state.approvals import Approvals, State, answer, ask, fingerprint, required
from tacit.base.errors import Bug
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tacit.c2a.messages import Knock, encode, faults, idempotency_key
from tacit.c2a.negotiation import TOOLS, Agreement, agree, tool_allowed
from tacit.c2a.vocabulary import EXPOSURE, NEWER, OLDER, ConversationKind, Intent, Mode, Policy
from tests.attention.world import ROSTER, START, event, lead_gets, state, thread, three

WORDS = [
    "the",
    "deploy",
    "of",
    "our",
    "billing",
    "service",
    "fails",
    "because",
    "its",
    "database",
    "index",
    "is",
    "too",
    "slow",
    "question",
    "in",
    "request",
    "about",
    "rollback",
    "plan",
]


@pytest.mark.spec("C2A-089", "C2A-224")
def test_no_knock_shows_four_words_of_ten_thousand_bodies() -> None:
    """Titles are often cut from the body itself; even then the topic gives no four words away."""
    rng = random.Random(4)
    for _ in range(10_000):
        body = [rng.choice(WORDS) for _ in range(rng.randint(0, 30))]
        start = rng.randint(0, max(len(body) - 1, 0))
        title = " ".join(body[start : start + rng.randint(0, 9)]) + rng.choice(
            ["", " 4711", " https://x.example/y", " `rm`"]
        )
        text = rng.choice([" ", "  ", "\n", ", "]).join(body)
        topic, _ = topic_of(rng.choice(list(Intent)), title.title() if rng.random() < 0.5 else title, text)
        shown = re.findall(r"\w+", topic.lower())
        said = [word.lower() for word in re.findall(r"\w+", text)]
        runs = {tuple(said[at : at + 4]) for at in range(len(said) - 3)}
        assert not any(tuple(shown[at : at + 4]) in runs for at in range(len(shown) - 3))
        assert len(topic) <= 80
        assert not re.search(r"\d{2,}|http|`", topic)


@given(body=st.text(max_size=200), title=st.text(max_size=120), intent=st.sampled_from(list(Intent)))
def test_a_topic_is_short_and_clean_for_any_text(body: str, title: str, intent: Intent) -> None:
    topic, _ = topic_of(intent, title, body)
    assert 0 < len(topic) <= 80
    assert "\n" not in topic
    assert "@" not in topic


@pytest.mark.spec("C2A-089")
def test_a_topic_that_would_reveal_falls_back_to_the_intent() -> None:
    assert topic_of(Intent.QUESTION, "Deploy migration", "is it slow") == (
        "question in Deploy migration",
        False,
    )
    assert topic_of(Intent.QUESTION, "the deploy of our billing", "the deploy of our billing broke") == (
        "question",
        True,
    )
    assert topic_of(Intent.REQUEST, "デプロイの手順が壊れています", "デプロイの手順が壊れていますか") == (
        "request",
        True,
    )
    assert topic_of(Intent.REQUEST, "", "x")[0] == "request"


@pytest.mark.spec("C2A-088", "C2A-036", "C2A-134")
def test_a_knock_has_seven_members_and_no_body() -> None:
    what = event("why is the secret thing broken", to=["@all"])
    decision = lead_gets(what)
    knock, _ = knock_of(
        decision,
        sender="human:user",
        conversation=Conversation(title="Deploys"),
        intent=Intent.QUESTION,
        body="why is the secret thing broken",
    )
    assert list(knock.members()) == [
        "from",
        "where",
        "directedness",
        "policy",
        "priority",
        "topic",
        "pullWith",
    ]
    assert knock.members()["topic"] == "question in Deploys"
    threaded, _ = knock_of(
        decision, sender="x", conversation=Conversation(thread="r"), intent=Intent.PLAIN, body=""
    )
    assert (threaded.where, threaded.pull_with) == ("thread:r", "chat.read_thread")


@pytest.mark.spec("C2A-090")
def test_knocks_of_one_thread_become_one_and_only_an_obligation_wakes() -> None:
    def knock(where: str, policy: str) -> Knock:
        return Knock("a", where, "to_my_role", policy, "normal", "message", "chat.read_thread")

    found = collapsed(
        [
            knock("thread:1", "must_respond"),
            knock("thread:2", "may_respond"),
            knock("thread:1", "may_respond"),
        ]
    )
    assert [(one.where, one.count, one.policy) for one in found] == [
        ("thread:2", 1, "may_respond"),
        ("thread:1", 2, "must_respond"),
    ]
    assert found[1].members()["count"] == 2
    assert not lead_gets(event("look", to=["@all"])).starts_turn
    assert lead_gets(event("@lead look")).starts_turn


@pytest.mark.spec("C2A-079", "C2A-091", "C2A-094")
def test_modes_expose_what_they_say_and_a_harness_can_only_lower() -> None:
    assert {mode for mode in Mode if is_pushed(mode)} == {Mode.IMMEDIATE, Mode.BUFFERED, Mode.NOTIFY}
    assert {mode for mode in Mode if content_shown(mode)} == {Mode.IMMEDIATE, Mode.BUFFERED}
    assert not is_listed(Mode.SILENT)
    assert is_listed(Mode.TOOL_MAILBOX)
    for higher in range(len(EXPOSURE)):
        for lower in range(len(EXPOSURE)):
            assert may_use(EXPOSURE[higher], EXPOSURE[lower]) == (lower <= higher)
    with pytest.raises(ValueError, match="loud"):
        Mode("loud")


def item(number: int, **more: Any) -> Item:
    return Item(
        **{
            "event_id": f"e{number}",
            "scope": "channel:main",
            "author": "ci",
            "intent": Intent.STATUS,
            "text": f"build {number} passed",
            **more,
        }
    )


@pytest.mark.spec("C2A-092", "C2A-227")
def test_a_digest_counts_and_keeps_the_last_report_of_each_author() -> None:
    found = digest_of([item(1), item(2), item(3, author="bob", intent=Intent.QUESTION, text="secret words")])
    assert found is not None
    assert found.text == "channel:main: 3 messages by 2 (2 status, 1 question)\n- ci: build 2 passed"
    assert "secret" not in found.text
    many = digest_of([item(n, author=f"a{n}", text="x" * 300, scope=f"stream:{n % 3}") for n in range(90)])
    assert many is not None
    assert len(many.text) <= 2000
    assert all(f"stream:{n}: 30 messages" in many.text for n in range(3))
    assert digest_of([]) is None
    assert next_at(START) == START + 900_000_000
    assert (scope_of("C1", None), scope_of("C1", "s")) == ("channel:C1", "stream:s")


@pytest.mark.spec("C2A-093")
def test_a_digest_asks_for_nothing_unless_it_holds_a_mention() -> None:
    plain, aimed = [item(1)], [item(1), item(2, obliges=True)]
    first, second = digest_of(plain), digest_of(aimed)
    assert first is not None
    assert second is not None
    assert (first.policy, second.policy) == (Policy.MUST_NOT_RESPOND, Policy.MAY_RESPOND)
    assert not permitted(Policy.MUST_RESPOND, aimed)
    assert not permitted(Policy.MAY_RESPOND, plain)
    assert permitted(Policy.MUST_NOT_RESPOND, plain)
    assert permitted(Policy.MAY_RESPOND, aimed)


SECRETS = {
    "private_key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "aws_key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "github_token": "ghp_" + "a1B2" * 9,
    "slack_token": "xoxb-" + "123456789012-abcdef",
    "model_key": "sk-ant-" + "a1b2c3d4e5f6g7h8i9j0",
    "jwt": "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF",
    "stripe_key": "sk_live_" + "a1b2c3d4e5f6g7h8",
    "google_key": "AIza" + "a" * 35,
    "gitlab_token": "glpat-" + "a" * 20,
    "card": "4111 1111 1111 1111",
}


@pytest.mark.spec("C2A-204")
@pytest.mark.parametrize("kind", SECRETS)
def test_secrets_are_shown_as_their_type(kind: str) -> None:
    shown = redacted(f"here: {SECRETS[kind]} ok")
    assert shown == f"here: [redacted:{kind}] ok"
    assert redacted(shown) == shown


@pytest.mark.spec("C2A-204")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password: hunter22", "password: [redacted:password]"),
        ("DB_PASSWORD=hunter22!", "DB_PASSWORD=[redacted:password]"),
        ("the password is hunter22", "the password is [redacted:password]"),
        ('"api_key": "abcdef123456"', '"api_key": [redacted:secret]'),
        ("postgres://app:s3cret@db/x", "postgres://app:[redacted:url_password]@db/x"),
        ("Authorization: Bearer abcdefghijklmnopqrstuv", "Authorization: Bearer [redacted:bearer_token]"),
        ("build 4111111111111112 passed", "build 4111111111111112 passed"),
        ("the key question is time", "the key question is time"),
        ("passwords should be long", "passwords should be long"),
    ],
)
def test_what_looks_like_a_secret_goes_and_the_rest_stays(text: str, shown: str) -> None:
    assert redacted(text) == shown


def delivered(what: Any, version: str = NEWER, where: Any = None, agent: str = "lead") -> dict[str, Any]:
    decisions = decide(what, ROSTER, where or state())
    assert decisions.parsed is not None
    return encode(made_of(what, decisions.parsed, decisions[agent], agent), version)


@pytest.mark.spec(
    "C2A-030",
    "C2A-031",
    "C2A-037",
    "C2A-038",
    "C2A-040",
    "C2A-041",
    "C2A-042",
    "C2A-043",
    "C2A-044",
    "C2A-006",
)
def test_a_delivery_holds_both_shapes_at_once() -> None:
    what = event("where is the runbook", to=["lead"], seq=42)
    found = delivered(what)
    assert found["eventId"] == "e1"
    assert found["source"] == {"platform": "cccs", "workspaceId": "g"}
    assert found["conversation"] == {"id": "dm:lead+user", "kind": "dm"}
    assert found["author"] == {"id": "user", "kind": "human", "displayName": "user"}
    assert found["target"] == {"mentions": ["agent:lead"], "directedness": "to_me", "recipient": "agent:lead"}
    assert (found["addressedToMe"], found["policy"], found["content"]) == (
        True,
        "must_respond",
        "where is the runbook",
    )
    assert found["timing"] == {"createdAt": "2026-06-02T19:10:00.000000Z", "sequence": 42}
    assert found["attention"] == {
        "policy": "must_respond",
        "reason": "direct_message",
        "priority": "normal",
        "deadlineMs": 300_000,
    }
    assert found["injection"] == {"mode": "buffered", "context": "none", "role": "user"}
    assert found["reliability"] == {"attempt": 1, "idempotencyKey": "e1:lead"}
    assert faults(found) == []
    assert idempotency_key("e1", "worker") != idempotency_key("e1", "lead")


@pytest.mark.spec("C2A-035", "C2A-055", "C2A-032")
def test_the_version_decides_content_kinds_and_ack_only() -> None:
    what = event("look", to=["lead"], attachments=[{"kind": "image", "title": "graph"}])
    assert delivered(what)["content"] == "look\n[image: graph]"
    assert delivered(what, OLDER)["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image", "title": "graph"},
    ]
    notice = event(by="system", kind="system.notify", target_actor_id="lead", message="soon")
    assert delivered(notice, OLDER)["policy"] == "ack_only"
    assert delivered(notice, OLDER)["conversation"]["kind"] == "system"
    assert delivered(notice)["policy"] == delivered(notice)["attention"]["policy"] == "must_not_respond"
    assert delivered(notice)["conversation"]["kind"] == "dm"
    assert {kind.value for kind in ConversationKind} == {"dm", "channel", "thread", "system", "tool"}


@pytest.mark.spec("C2A-036", "C2A-030", "C2A-001")
def test_a_knock_carries_no_content_and_a_broken_delivery_is_told_apart() -> None:
    found = delivered(event("the secret sauce is vinegar", reply_to="x"), where=thread(participants={"lead"}))
    assert "content" not in found
    assert "vinegar" not in str(found)
    assert faults(found) == []
    assert faults({**found, "content": "x"}) == ["content"]
    assert "policy" in faults({**found, "policy": "may_respond_twice"})
    assert "policy" in faults({**found, "policy": "must_respond"})
    assert "injection.role" in faults({**found, "injection": {"mode": "notify", "role": "system"}})
    assert "eventId" in faults({name: value for name, value in found.items() if name != "eventId"})
    escalating = lead_gets(event("@lead look")).__class__
    assert escalating


@pytest.mark.spec("C2A-204")
def test_a_delivery_is_redacted_and_the_event_is_not() -> None:
    what = event("password: hunter22", to=["lead"])
    assert delivered(what)["content"] == "password: [redacted:password]"
    assert what.data["text"] == "password: hunter22"


@pytest.mark.spec("C2A-026")
def test_an_escalated_event_is_not_encoded_for_the_harness_that_cannot_take_it() -> None:
    from tacit.attention.decide.modes import step_down

    decisions = decide(event("@lead look"), ROSTER)
    assert decisions.parsed is not None
    with pytest.raises(Bug):
        made_of(event("@lead look"), decisions.parsed, step_down(decisions["lead"], frozenset()), "lead")


@pytest.mark.spec("C2A-223")
def test_a_thread_window_is_the_root_and_the_last_messages() -> None:
    assert thread_window([]) == []
    assert thread_window(["root"]) == [0]
    assert thread_window(["x"] * 30) == [0, *range(20, 30)]
    assert thread_window(["x" * 3000, "y" * 3000, "z" * 3000]) == [0, 2]


@pytest.mark.spec("C2A-207")
def test_a_person_approves_once_for_one_thing_and_silence_is_no() -> None:
    approvals, what = Approvals(), fingerprint("send", "C1", "the text")
    assert required(approvals, "lead", what, START) is not None
    approvals.apply(ask("p1", "lead", what, START))
    assert approvals.standing("lead", what, START) is State.ASKED
    by_agent = answer(approvals, "p1", granted=True, by="worker", by_human=False, now=START)
    assert isinstance(by_agent, Refusal)
    late = Moment(START + 3_600_000_000)
    assert approvals.standing("lead", what, late) is State.LAPSED
    assert isinstance(answer(approvals, "p1", granted=True, by="user", by_human=True, now=late), Refusal)
    yes = answer(approvals, "p1", granted=True, by="user", by_human=True, now=START)
    assert not isinstance(yes, Refusal)
    approvals.apply(yes)
    approvals.apply(ask("p2", "lead", what, START))
    assert required(approvals, "lead", what, START) is None
    changed = required(approvals, "lead", fingerprint("send", "C1", "the text!"), START)
    assert changed is not None
    assert changed.number == -32024
    assert isinstance(answer(approvals, "zz", granted=True, by="user", by_human=True, now=START), Refusal)
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


@pytest.mark.spec("C2A-205")
def test_too_many_events_fall_to_the_mailbox_and_obligations_wait() -> None:
    past = [Moment(START + n) for n in range(60)]
    now = Moment(START + 1_000_000)
    knock, named, plain = (
        lead_gets(event("look", to=["@all"])),
        lead_gets(event("@lead look")),
        lead_gets(event("lunch")),
    )
    lowered, flow = inbound(knock, past, now)
    assert (lowered.mode, flow, lowered.rule("mode").row) == (Mode.TOOL_MAILBOX, Flow.LOWERED, "C2A-205")
    assert inbound(named, past, now) == (named, Flow.QUEUED)
    assert inbound(plain, past, now) == (plain, Flow.NOW)
    assert inbound(knock, past[:59], now) == (knock, Flow.NOW)
    assert inbound(knock, past, now, Settings(injected_per_minute=61)) == (knock, Flow.NOW)


HELLO: dict[str, Any] = {
    "protocolVersion": OLDER,
    "clientInfo": {"name": "x", "version": "1"},
    "capabilities": {
        "delivery": {"ack": True}, "injection": {"buffered": True, "notify": True, "interrupt": False},
        "chatTools": {"readThread": True, "react": True}, "utilities": {"progress": True}, "strange": {"x": True},
    },
}  # fmt: skip


def agreed(**change: Any) -> Agreement:
    found = agree({**HELLO, **change})
    assert isinstance(found, Agreement)
    return found


@pytest.mark.spec("C2A-019", "C2A-021", "C2A-024", "C2A-025")
def test_both_sides_agree_on_a_version_and_on_what_both_can() -> None:
    assert agreed().version == OLDER
    assert agreed(protocolVersion=NEWER).version == NEWER
    assert agreed(protocolVersion="2027-01-01").version == NEWER
    none = agree({**HELLO, "protocolVersion": "2020-01-01"})
    assert isinstance(none, Refusal)
    assert (none.number, none.details["supported"]) == (-32002, [NEWER, OLDER])
    both = agreed()
    assert both.has("delivery", "ack")
    assert not both.has("delivery", "redelivery")
    assert "strange" not in both.capabilities
    assert both.modes == {Mode.BUFFERED, Mode.NOTIFY, Mode.SILENT}
    limited = agree(HELLO, {"delivery": {"ack": False}})
    assert isinstance(limited, Agreement)
    assert not limited.has("delivery", "ack")
    lacking = agree({"protocolVersion": OLDER})
    assert isinstance(lacking, Refusal)
    assert lacking.details["missing"] == ["capabilities", "clientInfo.name", "clientInfo.version"]


@pytest.mark.spec("C2A-022", "C2A-170")
def test_only_agreed_tools_are_listed() -> None:
    both = agreed()
    listed = ["chat.list_events", "chat.read_thread", "chat.react", "chat.search"]
    assert [tool.name for tool in both.tools()] == listed
    refused, unknown = tool_allowed(both, "chat.claim"), tool_allowed(both, "chat.dance")
    assert refused is not None
    assert unknown is not None
    assert (refused.number, unknown.number) == (-32003, -32601)
    assert tool_allowed(both, "chat.react") is None
    assert [tool.name for tool in TOOLS[7:]] == ["chat.search", "chat.leave", "chat.progress"]
    assert all(tool.idempotent for tool in TOOLS if tool.read_only)
    assert three(lead_gets(event("lunch")))[0] == "ambient"
