"""The small pure parts: principals, cursors, provenance, capabilities, codes, envelope, shapes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.base.strict_json import compact
from tacit.ledger import kinds
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.codes import CODES
from tacit.ledger.cursor import Selection, matches, selection
from tacit.ledger.envelope import StoredEvent, data_of, decode, encode
from tacit.ledger.kinds import KINDS
from tacit.ledger.principal import PrincipalKind, kind_of, require_service
from tacit.ledger.profile import capabilities
from tacit.ledger.provenance import record_data, relayed_data, relayed_text
from tests.ledger.world import refusal

# Principals


@pytest.mark.spec("CCCS-004", "CCCS-039")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("user", PrincipalKind.USER),
        ("system", PrincipalKind.SYSTEM),
        ("peer-1", PrincipalKind.ACTOR),
        ("A.b_c-9", PrincipalKind.ACTOR),
        ("x" * 64, PrincipalKind.ACTOR),
        ("User", PrincipalKind.ACTOR),
        ("svc:com.example.mybot", PrincipalKind.SERVICE),
        ("usr:eve", PrincipalKind.PERSON),
        ("x" * 65, None),
        ("", None),
        ("@all", None),
        ("svc:", None),
        ("svc:@x", None),
        ("usr:", None),
        (".x", None),
        ("a b", None),
        ("a\n", None),
        ("ä", None),
        ("-all", None),
    ],
)
def test_a_spelling_stands_for_one_kind_of_principal(name: str, kind: PrincipalKind | None) -> None:
    assert kind_of(name) is kind


@given(st.text())
def test_any_text_is_a_principal_or_none(name: str) -> None:
    kind_of(name)


@pytest.mark.spec("CCCS-005", "CCCS-006")
def test_service_names_are_shaped_and_some_are_reserved() -> None:
    require_service("svc:com.example.mybot")
    require_service("svc:cccc")
    require_service("svc:cccc.web", allowed=frozenset({"svc:cccc.web"}))
    with refusal("permission_denied", "CCCS-006"):
        require_service("svc:cccc.web")
    for name in ("ann", "user", "svc:", "svc:a b"):
        with refusal("invalid_request", "CCCS-005"):
            require_service(name)


# Cursors


@pytest.mark.spec("CCCS-104", "CCCS-105", "CCCS-107", "CCCS-108")
@pytest.mark.parametrize(
    ("wanted", "row"),
    [
        ({"since_seq": 1, "since_event_id": "x"}, "CCCS-104"),
        ({"since_seq": 0, "since_ts": "2026-01-13T10:00:00Z"}, "CCCS-104"),
        ({"since_event_id": "x", "since_ts": "2026-01-13T10:00:00Z"}, "CCCS-104"),
        ({"since_ts": "yesterday"}, "CCCS-104"),
        ({"since_ts": "2026-01-13T10:00:00"}, "CCCS-104"),
        ({"since_seq": -1}, "CCCS-105"),
        ({"since_seq": 2**40}, "CCCS-105"),
        ({"kinds": []}, "CCCS-107"),
        ({"kinds": ["chat.message", ""]}, "CCCS-107"),
        ({"limit": 0}, "CCCS-108"),
        ({"limit": 1001}, "CCCS-108"),
        ({"limit": -5}, "CCCS-108"),
    ],
)
def test_a_selection_that_makes_no_sense_is_refused(wanted: dict[str, Any], row: str) -> None:
    with refusal("invalid_request", row):
        selection(**wanted)


def test_a_selection_has_modest_defaults() -> None:
    assert selection() == Selection(limit=100)
    assert selection(limit=1).limit == 1
    assert selection(limit=1000).limit == 1000


@pytest.mark.spec("CCCS-107")
@pytest.mark.parametrize(
    ("pattern", "kind", "fits"),
    [
        ("chat.message", "chat.message", True),
        ("chat.*", "chat.message", True),
        ("chat.*", "chatter.message", False),
        ("chat", "chat.message", False),
        ("x.foo.*", "x.foo.bar.baz", True),
        ("x.foo.*", "x.foo", False),
        ("*", "chat.message", False),
    ],
)
def test_a_pattern_is_a_name_or_everything_below_a_prefix(pattern: str, kind: str, fits: bool) -> None:
    assert matches(pattern, kind) is fits
    assert Selection(kinds=(pattern,)).wants(kind) is fits
    assert Selection().wants(kind)


# Provenance


@pytest.mark.spec("CCCS-096")
@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (None, True),
        ("Please review.", True),
        ("From the other room: Please review. Thanks.", True),
        ("[Summarized] review wanted", True),
        ("  [SHORTENED] review", True),
        ("please review.", False),
        ("Please review", False),
        ("review wanted [Summarized]", False),
        ("", False),
    ],
)
def test_a_relayed_text_is_verbatim_or_marked(text: str | None, fine: bool) -> None:
    if fine:
        assert relayed_text("Please review.", text) == (text or "Please review.")
    else:
        with refusal("invalid_request", "CCCS-096"):
            relayed_text("Please review.", text)


@pytest.mark.spec("CCCS-096")
def test_an_empty_original_makes_no_text_verbatim() -> None:
    with refusal("invalid_request", "CCCS-096"):
        relayed_text("", "anything at all")


def source(kind: str = "chat.message", /, **data: Any) -> StoredEvent:
    raw = encode(
        event_id="019bb6cc-4900-76c5-a522-4a58b7f163d9", ts="2026-01-13T10:00:00.000000Z", seq=4, kind=kind,
        group_id="g_src", scope_key="s_1", by="ann", data=msgspec.json.encode(data),
    )  # fmt: skip
    return StoredEvent(4, "019bb6cc-4900-76c5-a522-4a58b7f163d9", kind, "ann", raw)


@pytest.mark.spec("CCCS-023", "CCCS-095", "CCCS-097")
def test_a_relay_carries_the_originals_envelope_without_its_data() -> None:
    found = source(
        text="t", format="markdown", priority="attention", refs=[{"url": "u"}], to=["bob"], client_id="k"
    )
    data = relayed_data(found, "g_src", text=None, to=None, priority=None)
    assert data == {
        "text": "t",
        "src_group_id": "g_src",
        "src_event_id": found.event_id,
        "src_envelope": {
            "v": 1, "id": found.event_id, "ts": "2026-01-13T10:00:00.000000Z", "seq": 4, "kind": "chat.message",
            "group_id": "g_src", "scope_key": "s_1", "by": "ann",
        },
        "to": ["@all"],
        "format": "markdown",
        "refs": [{"url": "u"}],
    }  # fmt: skip


@pytest.mark.spec("CCCS-095", "CCCS-098")
def test_a_relay_says_what_its_sender_asked_for() -> None:
    found = source(text="t", attachments=[{"path": "p"}])
    data = relayed_data(found, "g_src", text="[Summarized] x", to=["ann"], priority="attention")
    assert (data["text"], data["to"], data["priority"]) == ("[Summarized] x", ["ann"], "attention")
    assert data["attachments"] == [{"path": "p"}]
    with refusal("invalid_request", "CCCS-095"):
        relayed_data(source("system.notify", kind="info"), "g_src", text=None, to=None, priority=None)


@pytest.mark.spec("CCCS-101", "CCCS-102")
def test_the_send_record_obliges_nobody() -> None:
    record = record_data("id", "g_dst", ["ann"])
    assert (record["dst_group_id"], record["dst_to"], record["reply_to"]) == ("g_dst", ["ann"], "id")
    assert "priority" not in record
    assert not {"src_group_id", "src_event_id"} & record.keys()


# Capabilities and codes


@pytest.mark.spec("CCCS-044", "CCCS-109", "CCCS-116", "CCCS-119")
def test_capabilities_say_what_is_offered_and_leave_out_what_is_not() -> None:
    settings = AdmissionSettings(profiles=frozenset({"core"}), idempotency_window=Moment(600 * SECOND))
    told = capabilities(settings, auth="authenticated", limits={"body_bytes": 5})
    assert (told["cccs"], told["profiles"], told["auth"]) == (1, ["core"], "authenticated")
    assert told["idempotency_window_s"] == 600
    assert told["cursors"] == ["since_seq", "since_event_id", "since_ts"]
    assert {"chat.message", "chat.ack", "chat.read", "system.notify", "system.notify_ack"} <= set(
        told["kinds"]
    )
    assert not [kind for kind in told["kinds"] if kind.startswith(("group.", "actor.", "context."))]
    assert told["limits"]["body_bytes"] == 5
    assert set(told["error_codes"]) == set(CODES)
    whole = capabilities(AdmissionSettings(), auth="local_trust", limits={})
    assert whole["profiles"] == ["core", "management", "context"]
    assert whole["kinds"] == list(KINDS)


@pytest.mark.spec("CCCS-112")
def test_the_stable_codes_have_their_status() -> None:
    expected = {
        "invalid_request": 400, "permission_denied": 403, "group_not_found": 404, "actor_not_found": 404,
        "event_not_found": 404, "blob_not_found": 404, "unknown_op": 404, "daemon_unavailable": 503,
    }  # fmt: skip
    assert {code: CODES[code].http for code in expected} == expected


@pytest.mark.spec("CCCS-111")
def test_a_refusal_carries_code_message_and_row() -> None:
    with pytest.raises(Refused) as caught:
        kinds.shape({"text": 5}, kinds.ChatMessage, "CCCS-046")
    error = caught.value
    assert (error.code, error.row) == ("invalid_request", "CCCS-046")
    assert error.details == {"at": "$.text", "row": "CCCS-046"}
    assert "data.text" in error.message


@pytest.mark.parametrize(
    ("data", "at", "says"),
    [
        ({}, "$", "text"),
        ({"text": "x", "to": ["a", 5]}, "$.to[1]", "data.to[1]"),
        ({"text": "x", "attachments": [{}]}, "$.attachments[0]", "path"),
        ({"text": "x", "conversation": {"kind": "a`b"}}, "$.conversation.kind", "data.conversation.kind"),
    ],
)
def test_a_refusal_names_the_place(data: dict[str, Any], at: str, says: str) -> None:
    with pytest.raises(Refused) as caught:
        kinds.shape(data, kinds.ChatMessage, "CCCS-046")
    assert caught.value.details["at"] == at
    assert says in caught.value.message
    assert "dataext" not in caught.value.message


@given(st.text(min_size=8, alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x4EFF)))
def test_a_refusal_of_shape_never_quotes_a_value(secret: str) -> None:
    for member in ("format", "priority", "text", "to", "conversation", "refs"):
        data: dict[str, Any] = {"text": "x", member: [secret] if member == "text" else secret}
        with pytest.raises(Refused) as caught:
            kinds.shape(data, kinds.ChatMessage, "X")
        assert secret not in str(caught.value) + str(caught.value.details)


# Envelope

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
DATA = st.dictionaries(
    TEXT, TEXT | st.integers(-(2**63), 2**64 - 1) | st.none() | st.booleans() | st.lists(TEXT), max_size=5
)


@pytest.mark.spec("CCCS-013", "CCCS-014", "CCCS-022")
@given(data=DATA, by=TEXT, group=TEXT)
def test_an_event_comes_back_as_it_was_written(data: dict[str, Any], by: str, group: str) -> None:
    raw = encode(
        event_id="i", ts="t", seq=3, kind="x.a.b", group_id=group, scope_key="", by=by,
        data=compact(msgspec.json.encode(data)),
    )  # fmt: skip
    event = decode(raw)
    assert (event.v, event.seq, event.group_id, event.by, event.data) == (1, 3, group, by, data)
    assert b"\n" not in raw


@pytest.mark.spec("CCCS-021", "CCCS-025")
def test_a_reader_ignores_members_that_it_does_not_know() -> None:
    raw = b'{"v":1,"id":"i","ts":"t","seq":1,"kind":"x.new.kind","group_id":"g","scope_key":"","by":"b","data":{},"z":[1]}'
    assert decode(raw).kind == "x.new.kind"
    assert data_of(raw) == {}
