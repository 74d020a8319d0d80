import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.packets.packet import NEEDS_FEATURE
from tacit.a2acp.packets.profile import PROFILE_0_1, downgraded, trimmed
from tacit.base.errors import Refused
from tacit.base.strict_json import canonical
from tacit.wire import version
from tests.conformance.write_packet_vectors import BODIES

ALL = frozenset(packet.FEATURES)
NONE = frozenset[str]()
NEW, OLD = "a2acp/0.2", "a2acp/0.1"


@pytest.mark.spec("A2ACP-236", "A2ACP-238")
@pytest.mark.parametrize("kind", schemas.TYPES)
def test_a_peer_that_can_do_what_we_do_gets_packets_as_they_are(kind):
    assert downgraded(kind, BODIES[kind], ALL, NEW) == (kind, BODIES[kind])


@pytest.mark.spec("A2ACP-236", "A2ACP-238", "A2ACP-240", "A2ACP-278")
@pytest.mark.parametrize(("features", "spoken"), [(NONE, NEW), (ALL, OLD), (NONE, OLD)])
@pytest.mark.parametrize("kind", schemas.TYPES)
def test_a_peer_without_features_or_of_0_1_gets_the_five_types_of_0_1_and_all_may_leave(
    kind, features, spoken
):
    found = downgraded(kind, BODIES[kind], features, spoken)
    if kind in NEEDS_FEATURE or kind == schemas.COORDINATOR_TRANSFER:
        assert found is None
        return
    assert found is not None
    assert found[0] in PROFILE_0_1
    schemas.check_out(*found)
    assert "alternatives" not in found[1].get("proposal", {})


@pytest.mark.spec("A2ACP-278")
@pytest.mark.parametrize(
    ("kind", "lost"),
    [
        ("resolution", "resolution_with_alternatives"),
        ("thread_fork", "thread_forking"),
        ("thread_status", "thread_status"),
        ("thread_sync", "thread_sync"),
    ],
)
def test_one_feature_that_a_peer_lacks_changes_its_own_packets_alone(kind, lost):
    for each, body in BODIES.items():
        same = downgraded(each, body, ALL - {lost}, NEW) == (each, body)
        assert same == (each != kind)


@pytest.mark.spec("A2ACP-278")
def test_alternatives_become_words_in_the_reasoning():
    before = BODIES["resolution"]
    _, body = downgraded("resolution", before, NONE, NEW)
    assert body["proposal"]["reasoning"] == "both are free Also possible: 19:30 instead (more tables)."
    assert body["proposal"]["details"] == before["proposal"]["details"]
    assert before["proposal"]["alternatives"]
    bare = {
        **before,
        "proposal": {
            "summary": "s",
            "details": {},
            "alternatives": [{"summary": "a"}, {"summary": "b", "reason": ""}],
        },
    }
    assert downgraded("resolution", bare, NONE, NEW)[1]["proposal"] == {
        "summary": "s", "details": {}, "reasoning": "Also possible: a; b.",
    }  # fmt: skip
    without = {**before, "proposal": {"summary": "s", "details": {}}}
    assert downgraded("resolution", without, NONE, NEW) == ("resolution", without)


@pytest.mark.spec("A2ACP-278")
def test_a_new_intent_becomes_a_context_that_has_it_and_asks_what_it_asked():
    kind, body = downgraded("intent_update", BODIES["intent_update"], ALL, OLD)
    assert (kind, body) == (
        "context",
        {
            "intent": {"category": "scheduling", "summary": "Game night", "urgency": "normal"},
            "context": {},
            "reason": "games were suggested",
            "needs": BODIES["intent_update"]["additional_context_needed"],
        },
    )
    urgent = {**BODIES["intent_update"]["updated_intent"], "urgency": "urgent"}
    _, body = downgraded("intent_update", {**BODIES["intent_update"], "updated_intent": urgent}, ALL, OLD)
    assert body["intent"]["urgency"] == "urgent"


@pytest.mark.spec("A2ACP-278")
def test_a_fork_becomes_a_context_that_tells_it():
    kind, body = downgraded("thread_fork", BODIES["thread_fork"], ALL - {"thread_forking"}, NEW)
    assert kind == "context"
    assert body["intent"]["summary"] == "To be arranged separately: Dinner at 19:00; Games at 21:00"
    assert body["context"] == {"date": "2026-03-27"}
    assert body["permissions"]["shared_fields"] == ["date"]


@pytest.mark.spec("A2ACP-238", "A2ACP-240")
def test_a_feature_is_usable_from_the_version_in_which_it_begins():
    assert version.usable_features(ALL, OLD) == {"context_negotiation"}
    assert version.usable_features(ALL, NEW) == ALL
    assert version.usable_features({"telepathy"}, NEW) == {"context_negotiation"}
    assert version.usable_features(ALL, "0.3") == ALL
    assert version.usable_features(ALL, "junk") == {"context_negotiation"}


def with_context(**context):
    named = [name for name in context if name != "flexibility"]
    return {
        "intent": BODIES["context"]["intent"],
        "context": context,
        "permissions": {"shared_fields": named, "withheld_fields": [], "consent_level": "user_approved"},
    }


@pytest.mark.spec("A2ACP-043")
def test_the_largest_optional_fields_go_until_the_context_fits():
    body = with_context(a="x" * 50, b="y" * 90, c="z" * 200, flexibility={"date": "flexible"})
    found = trimmed(body, 160)
    assert set(found["context"]) == {"a", "flexibility"}
    assert found["permissions"]["shared_fields"] == ["a"]
    assert found["permissions"]["withheld_fields"] == []
    schemas.check_out("context", found)
    assert set(body["context"]) == {"a", "b", "c", "flexibility"}


@pytest.mark.spec("A2ACP-043")
def test_what_must_be_kept_is_kept_and_refused_when_it_is_too_large_itself():
    body = with_context(a="x" * 50, b="y" * 90)
    assert set(trimmed(body, 110, keep=frozenset({"b"}))["context"]) == {"b"}
    with pytest.raises(Refused) as found:
        trimmed(body, 80, keep=frozenset({"b"}))
    assert (found.value.code, found.value.row) == ("too_large", "A2ACP-043")


def test_what_fits_is_left_alone():
    for body in (with_context(a=1), BODIES["resolution"]):
        assert trimmed(body, 20) is body


@given(
    context=st.dictionaries(st.text(max_size=4), st.text(max_size=30), max_size=8),
    limit=st.integers(2, 200),
    keep=st.frozensets(st.text(max_size=4), max_size=2),
)
@settings(max_examples=100)
def test_a_trimmed_context_fits_keeps_what_it_must_and_drops_no_more_than_needed(context, limit, keep):
    body = with_context(**{f"_{name}": value for name, value in context.items()})
    kept = frozenset(f"_{name}" for name in keep)
    needed = {name: value for name, value in body["context"].items() if name in kept}
    if len(canonical(needed)) > limit:
        with pytest.raises(Refused):
            trimmed(body, limit, kept)
        return
    found = trimmed(body, limit, kept)["context"]
    assert len(canonical(found)) <= limit
    assert needed.items() <= found.items() <= body["context"].items()
    gone = [name for name in body["context"] if name not in found]
    if gone:
        smallest = min(gone, key=lambda name: len(canonical({name: body["context"][name]})))
        assert len(canonical({**found, smallest: body["context"][smallest]})) > limit
