import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.consent import aliases, implicit, tiers
from tacit.a2acp.consent.filter import PacketDraft, clear, examine
from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.tiers import DEFAULT, Override, Policy, PolicyLookup, Tier
from tacit.base.errors import Refused
from tests.post_support import ALICE, BOB
from tools.places import modules

CAROL = "agent:carol@a2acp.io"
INTENT = {"category": "scheduling", "summary": "Arrange a dinner", "urgency": "low"}
WINDOWS = [{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}]
NOTHING = Scanner([])


def fine(packet_type, body):
    return None


def draft(body, packet_type="context", to=BOB):
    return PacketDraft(to, packet_type, "thr_abcdefgh", "pkt_abcdefgh", 0, body)


def context(**fields):
    return {"intent": INTENT, "context": fields}


def sent(
    body, packet_type="context", *, approved=None, policy=DEFAULT, asked=frozenset(), scanner=NOTHING, **more
):
    cleared = clear(draft(body, packet_type), policy, approved or {}, asked, scanner, check=fine, **more)
    assert (cleared.to, cleared.type, cleared.thread_id, cleared.packet_id, cleared.at) == (
        BOB, packet_type, "thr_abcdefgh", "pkt_abcdefgh", 0,
    )  # fmt: skip
    return cleared


def kept(body, packet_type="context", **more):
    return sent(body, packet_type, **more).body


def strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.spec("A2ACP-070", "A2ACP-072")
@pytest.mark.parametrize(
    ("key", "value", "tier"),
    [
        ("timezone", "Europe/London", "always"),
        ("general_location_area", "Reading", "always"),
        ("location_preference", "central Reading", "always"),
        ("place", "the Dopo", "always"),
        ("place", "7-8 Market Place, Reading RG1 2EG", "ask"),
        ("location_preference", [51.4543, -0.9781], "ask"),
        ("event_type", "12 High Street", "ask"),
        ("topic", "meet at RG1 2EG", "ask"),
        ("general_availability", "most evenings", "ask"),
        ("time_windows", WINDOWS, "ask"),
        ("dietary", ["vegetarian"], "ask"),
        ("shoe_size", 44, "ask"),
        ("timezone", "I have a cold", "ask"),
        ("timezone", {"value": "Europe/London"}, "ask"),
        ("general_location_area", "Reading, free at 18:00", "ask"),
        ("event_type", "dinner with somebody who is ill and at home", "ask"),
        ("party_size", "a secret", "ask"),
        ("party_size", True, "ask"),
        ("party_size", 100000, "ask"),
        ("duration", "as long as my shift ends", "ask"),
        ("health_info", "asthma", "never"),
        ("healthInfo", {"a": 1}, "never"),
        ("known_dietary", "none", "never"),
        ("password", "hunter2", "never"),
        ("salary", 85000, "never"),
    ],
)
def test_each_field_goes_by_its_tier(key, value, tier):
    found = examine(context(**{key: value}), "context", DEFAULT, BOB, {})
    assert found.kept["context"] == ({key: value} if tier == "always" else {})
    assert bool(found.held) == (tier == "ask")
    assert bool(found.withheld) == (tier == "never")
    assert kept(context(**{key: value}))["context"] == found.kept["context"]
    assert value not in found.withheld


@pytest.mark.spec("A2ACP-070")
@pytest.mark.parametrize("key", ["time_windows", "dietary", "shoe_size", "budget_range"])
@pytest.mark.parametrize("basis", ["user_approved", "implicit"])
def test_an_approval_releases_what_is_asked_first(key, basis):
    cleared = sent(context(**{key: "x"}), approved={key: basis})
    assert cleared.body["context"] == {key: "x"}
    assert cleared.bases == ((key, basis),)
    assert cleared.body["permissions"]["consent_level"] == basis


@pytest.mark.parametrize("claim", ["always", "", "user_preauthorised", "yes", "mixed"])
def test_what_is_no_basis_is_no_approval(claim):
    assert kept(context(dietary="x"), approved={"dietary": claim})["context"] == {}


@pytest.mark.spec("A2ACP-135", "A2ACP-134")
@pytest.mark.parametrize("basis", ["implicit", "user_approved"])
def test_no_approval_releases_what_never_goes_or_was_restricted(basis):
    policy = Policy(
        ask_first=("dietary",),
        never_share=("health_info",),
        overrides={BOB: Override(restrict_to_never_share=("dietary",))},
    )
    everything = dict.fromkeys(("dietary", "health_info", "password", "diet", "medical"), basis)
    body = context(dietary="a", health_info="b", password="c", diet="d", medical={"x": "e"})
    assert kept(body, policy=policy, approved=everything)["context"] == {}


@pytest.mark.spec("A2ACP-121")
def test_approving_a_narrow_name_opens_it_and_not_its_siblings():
    body = context(
        cuisine_preference="Italian", game_preferences="chess", time_windows=WINDOWS, date="2026-03-27"
    )
    assert set(kept(body, approved={"cuisinePreference": "user_approved"})["context"]) == {
        "cuisine_preference"
    }
    assert set(kept(body, approved={"event_preferences": "user_approved"})["context"]) == {
        "cuisine_preference",
        "game_preferences",
    }
    assert set(kept(body, approved={"time_windows": "user_approved"})["context"]) == {"time_windows", "date"}
    assert set(kept(body, approved={"date": "user_approved"})["context"]) == {"date"}


@pytest.mark.spec("A2ACP-121")
@pytest.mark.parametrize(
    ("fields", "approved", "expected"),
    [
        ({"dietary": {"health_info": "asthma", "kind": "vegan"}}, ["dietary"], {"dietary": {"kind": "vegan"}}),
        ({"dietary": {"health_info": "asthma"}}, ["dietary"], {}),
        ({"dietary": {"my_health_info": "asthma", "kind": "vegan"}}, ["dietary"], {"dietary": {"kind": "vegan"}}),
        ({"dietary": [{"known_allergy": "x"}, "vegan"]}, ["dietary"], {"dietary": ["vegan"]}),
        ({"dietary": {"transport_mode": "car", "kind": "x"}}, ["dietary"], {"dietary": {"kind": "x"}}),
        ({"dietary": {"transport_mode": "car"}}, ["dietary", "transport_mode"], {"dietary": {"transport_mode": "car"}}),
        ({"health_info": {"timezone": "Europe/London"}}, [], {}),
        ({"place": {"area": "Reading", "hobby": "x"}}, [], {"place": {"area": "Reading"}}),
        ({"place": {"a": {"b": [{"password": "x"}]}}}, [], {}),
        ({"place": {"value": "Reading"}}, [], {"place": {"value": "Reading"}}),
        ({"place": {"value": "12 High Street"}}, [], {}),
        ({"place": ["Reading", "12 High Street"]}, [], {"place": ["Reading"]}),
        ({"place": ["12 High", "Street"]}, [], {}),
        ({"dietary": "12 High Street"}, ["dietary"], {}),
        ({"dietary": "12 High Street"}, ["dietary", "specific_location"], {"dietary": "12 High Street"}),
        ({"dietary": {"12 High Street": True}}, ["dietary"], {}),
        ({"budget_range": {"low": 20, "high": 40, "currency": "GBP"}}, ["budget_range"], {"budget_range": {"low": 20, "high": 40, "currency": "GBP"}}),
        ({"budget_range": {"low": {"iban": "x"}, "high": 40}}, ["budget_range"], {"budget_range": {"high": 40}}),
        ({"place": {"from": "18:00"}}, [], {}),
        ({"timezone": "Europe/London", "dietary": {}}, ["dietary"], {"timezone": "Europe/London", "dietary": {}}),
    ],
)  # fmt: skip
def test_one_level_down_the_stricter_of_parent_and_child_wins(fields, approved, expected):
    assert kept(context(**fields), approved=dict.fromkeys(approved, "user_approved"))["context"] == expected


@pytest.mark.spec("A2ACP-070")
def test_proposals_changes_and_forks_are_filtered_like_context():
    details = {
        "event_type": "dinner",
        "date": "2026-03-27",
        "time": "19:00",
        "place": "Dopo",
        "health_info": "x",
    }
    proposal = {
        "proposal": {
            "summary": "Dinner",
            "details": details,
            "alternatives": [{"summary": "Later", "reason": "r", "details": details, "salary": 1}],
            "health_info": "x",
        }
    }
    assert kept(proposal, "resolution")["proposal"] == {
        "summary": "Dinner",
        "details": {"event_type": "dinner", "place": "Dopo"},
        "alternatives": [
            {"summary": "Later", "reason": "r", "details": {"event_type": "dinner", "place": "Dopo"}}
        ],
    }
    approved = {"specific_availability": "user_approved"}
    assert set(kept(proposal, "resolution", approved=approved)["proposal"]["details"]) == set(details) - {
        "health_info"
    }

    change = {"status": "counter", "change_request": {"field": "time", "suggestion": "19:30"}}
    assert "change_request" not in kept(change, "resolution_response")
    assert (
        kept(change, "resolution_response", approved=approved)["change_request"] == change["change_request"]
    )
    lying = {
        "status": "counter",
        "change_request": {"field": "place", "suggestion": "I am free on Friday 19:30"},
    }
    assert "change_request" not in kept(lying, "resolution_response")
    hiding = {"status": "counter", "change_request": {"field": "place", "suggestion": "Dopo", "salary": 1}}
    assert kept(hiding, "resolution_response")["change_request"] == {"field": "place", "suggestion": "Dopo"}

    fork = {"shared_context": {"date": "2026-03-27", "participants": [ALICE, BOB, CAROL]}}
    assert kept(fork, "thread_fork", members=frozenset({ALICE, BOB}))["shared_context"] == {
        "participants": [ALICE, BOB]
    }
    strangers = {"shared_context": {"participants": [CAROL, {"agent": CAROL, "status": "x"}, {"no": 1}]}}
    assert kept(strangers, "thread_fork")["shared_context"] == {}

    request = {"needs": [], "context_provided": {"dietary": "vegan", "timezone": "UTC"}}
    assert kept(request, "context_request")["context_provided"] == {"timezone": "UTC"}


@pytest.mark.spec("A2ACP-070", "A2ACP-039")
def test_in_a_conflict_the_counterparts_values_are_theirs_and_ours_are_filtered_like_the_field():
    ours, theirs = "Wednesday 18:00-21:00", "Thursday 18:00-21:00"
    conflict = {
        "type": "no_overlap", "field": "time_windows", "agent_a_values": [ours], "agent_b_values": [theirs],
        "attempted_resolution": "both not flexible",
    }  # fmt: skip
    said = kept(context(conflict=conflict), known=[{"time_windows": [theirs]}])
    assert said["context"]["conflict"] == {**conflict, "agent_a_values": []}
    assert said["permissions"]["shared_fields"] == []
    assert said["permissions"]["withheld_fields"] == ["time_windows"]
    approved = {"time_windows": "user_approved"}
    assert kept(context(conflict=conflict), approved=approved)["context"]["conflict"] == conflict
    for claimed in ("event_type", "timezone", "flexibility", "place", "party_size"):
        lying = {**conflict, "field": claimed}
        assert kept(context(conflict=lying))["context"]["conflict"]["agent_a_values"] == []
    hiding = {**conflict, "health_info": "x", "note": {"salary": 1}}
    assert set(kept(context(conflict=hiding))["context"]["conflict"]) == set(conflict)
    told = {**conflict, "attempted_resolution": "tried Wednesday 18:00"}
    assert kept(context(conflict=told))["context"]["conflict"]["attempted_resolution"] == ""
    groups = {**conflict, "values_by_agent": {BOB: [theirs], CAROL: [theirs]}}
    grouped = kept(context(conflict=groups), known=[theirs])["context"]["conflict"]
    assert grouped["values_by_agent"] == {BOB: [theirs]}


def test_alternatives_name_a_time_or_a_place_only_where_these_may_go():
    options = [
        {"option": "Lunch instead", "rationale": "another meal"},
        {"option": "Following week, Wednesday 1 April", "rationale": "one week later"},
        {"option": "A walk", "rationale": "I live at 12 High Street"},
        {"option": "A call", "rationale": "easier", "health_info": "tired"},
        "Friday",
    ]
    free = [options[0], {"option": "A call", "rationale": "easier"}]
    assert kept(context(proposed_alternatives=options))["context"]["proposed_alternatives"] == free
    approved = {"specific_availability": "user_approved"}
    assert (
        len(
            kept(context(proposed_alternatives=options), approved=approved)["context"][
                "proposed_alternatives"
            ]
        )
        == 4
    )


def test_what_goes_down_with_its_alternative_is_not_said_to_be_shared():
    options = [{"event_type": "lunch", "option": "on Friday", "rationale": ""}]
    assert sent(context(proposed_alternatives=options)).bases == ()


@pytest.mark.parametrize(
    "flexibility",
    [{"health_info": "ill"}, {"date": "because I am ill"}, {"ill today": "flexible"}, {"date": ["x"]}],
)
def test_flexibility_holds_dimensions_and_its_three_words_and_nothing_else(flexibility):
    found = kept(context(flexibility={"time": "flexible", **flexibility}))
    assert found["context"] == {"flexibility": {"time": "flexible"}}


def test_an_owner_may_keep_back_what_needs_no_consent_by_default():
    policy = Policy(never_share=("party_size", "flexibility"), ask_first=("topic",))
    body = context(party_size=2, topic="chess", flexibility={"date": "flexible"}, event_type="dinner")
    assert kept(body, policy=policy)["context"] == {"event_type": "dinner"}


@pytest.mark.spec("A2ACP-038", "A2ACP-039")
def test_permissions_are_what_is_sent_whatever_the_draft_says():
    body = context(
        event_type="dinner", party_size=2, time_windows=WINDOWS, dietary=["vegan"], timezone="UTC",
        flexibility={"date": "flexible"}, health_info="x",
    )  # fmt: skip
    body["permissions"] = {
        "shared_fields": ["lies"],
        "withheld_fields": ["secrets"],
        "consent_level": "none",
        "why": "x",
    }
    assert kept(body, approved={"time_windows": "user_approved"})["permissions"] == {
        "shared_fields": ["event_type", "party_size", "time_windows", "timezone"],
        "withheld_fields": ["dietary", "health_info"],
        "consent_level": "user_approved",
    }


@pytest.mark.spec("A2ACP-036", "A2ACP-038", "A2ACP-134")
@pytest.mark.parametrize(
    ("approved", "level"),
    [
        ({}, "user_preauthorised"),
        ({"dietary": "user_approved"}, "user_approved"),
        ({"dietary": "implicit"}, "implicit"),
        ({"dietary": "implicit", "budget_range": "user_approved"}, "implicit"),
    ],
)
def test_the_weakest_basis_is_the_packets_consent_level(approved, level):
    body = context(timezone="UTC", dietary="vegan", budget_range="GBP 30")
    assert kept(body, approved=approved)["permissions"]["consent_level"] == level


def test_nothing_sent_is_no_consent_and_a_packet_without_fields_has_no_block():
    assert kept(context())["permissions"]["consent_level"] == "none"
    assert "permissions" not in kept({"code": "generation_failed", "permissions": {}}, "processing_error")
    assert "permissions" not in kept({"status": "confirmed"}, "resolution_response")


@pytest.mark.spec("A2ACP-040")
def test_withheld_names_are_those_asked_for_or_drafted_in_words_that_tell_nothing():
    policy = Policy(ask_first=("dietary",), never_share=("health_info", "hiv_status"))
    body = context(dietary="vegan", hiv_status="x", I_am_divorced=True, known_affair_with_dave="y")
    assert kept(body, policy=policy)["permissions"]["withheld_fields"] == [
        "dietary",
        "other_peoples_information",
    ]
    asked = frozenset({"HIV-Status", "shoe_size"})
    assert kept(body, policy=policy, asked=asked)["permissions"]["withheld_fields"] == [
        "HIV-Status", "dietary", "other_peoples_information",
    ]  # fmt: skip
    assert kept(context(timezone="UTC"))["permissions"]["withheld_fields"] == []
    partly = kept(context(place=["Reading", "12 High Street"]))["permissions"]
    assert (partly["shared_fields"], partly["withheld_fields"]) == (["place"], [])
    unknown = kept(context(shoe_size=44), asked=frozenset({"shoe size"}))
    assert unknown["permissions"]["withheld_fields"] == ["shoe size"]


@pytest.mark.spec("A2ACP-139", "A2ACP-140", "A2ACP-040")
def test_a_refusal_has_no_hint_no_reason_and_is_given_only_to_what_was_asked():
    body = {
        "context_provided": {},
        "context_unavailable": [
            {"field": "dietary", "status": "declined", "hint": "ask his wife", "reason": "private"},
            {"field": "budget_range", "status": "because I am broke", "hint": None},
            {"field": "transport_mode", "status": "not_available", "hint": "x"},
            {"field": "health_info", "status": "declined", "hint": None},
            {"field": ["x"], "status": "declined"},
            "text",
        ],
        "reason": "none of your business",
        "summary": "x",
    }
    found = kept(body, "context_response", asked=frozenset({"dietary", "budget", "transport_mode"}))
    assert found == {
        "context_provided": {},
        "context_unavailable": [
            {"field": "dietary", "status": "declined", "hint": None},
            {"field": "budget", "status": "declined", "hint": None},
            {"field": "transport_mode", "status": "not_available", "hint": None},
        ],
        "permissions": {
            "shared_fields": [],
            "withheld_fields": ["budget", "dietary"],
            "consent_level": "none",
        },
    }


@pytest.mark.spec("A2ACP-140")
def test_withheld_never_and_declined_ask_look_alike():
    def told(field, policy):
        body = {
            "context_provided": {field: "v"},
            "context_unavailable": [{"field": field, "status": "declined"}],
        }
        return kept(body, "context_response", policy=policy, asked=frozenset({field}))

    assert told("dietary", Policy(never_share=("dietary",))) == told(
        "dietary", Policy(ask_first=("dietary",))
    )


def test_asking_for_a_field_called_like_a_guess_is_answered_like_any_other():
    scanner = Scanner([("health_info", "asthma")])
    for guess in ("asthma", "bronchitis"):
        body = {
            "context_provided": {guess: "x"},
            "context_unavailable": [{"field": guess, "status": "declined"}],
        }
        found = kept(body, "context_response", asked=frozenset({guess}), scanner=scanner)
        assert found["context_unavailable"] == [{"field": guess, "status": "declined", "hint": None}]
        assert found["permissions"]["withheld_fields"] == [guess]


def test_a_refusal_is_spelt_as_it_was_asked():
    body = {
        "context_unavailable": [
            {"field": "diet\u200b\u200cary", "status": "declined"},
            {"field": "dietary, he is vegan"},
        ]
    }
    found = kept(body, "context_response", asked=frozenset({"Dietary"}))
    assert found["context_unavailable"] == [{"field": "Dietary", "status": "declined", "hint": None}]


def test_the_real_reason_never_goes():
    body = {"status": "declined", "reason_class": "user_declined", "actual_reason": "he bores me"}
    assert kept(body, "resolution_response")["actual_reason"] is None


@pytest.mark.spec("A2ACP-072")
def test_keys_that_a_type_does_not_define_are_left_out_at_every_depth():
    body = {
        **context(timezone="UTC"), "health_info": "x", "note": {"salary": 1}, "from": "me", "proposal": {"details": {}},
        "needs": [{"field": "dietary", "reason": "r", "priority": "helpful", "mine": "vegan"}],
        "intent": {**INTENT, "dietary": ["vegan"]},
        "escalation": {"recommend": "surface_to_users", "reason": {"salary": 1}, "extra": "x"},
        "capabilities": {"features": ["a", {"salary": 1}], "secret": 1},
    }  # fmt: skip
    found = kept(body)
    del found["permissions"]
    assert found == {
        **context(timezone="UTC"),
        "needs": [{"field": "dietary", "reason": "r", "priority": "helpful"}],
        "escalation": {"recommend": "surface_to_users"},
        "capabilities": {"features": ["a"]},
    }


class Sly(dict):
    """Says nothing of itself when it is walked, all when it is written or the other way round."""

    def items(self):
        return {"timezone": "UTC"}.items()


@pytest.mark.spec("A2ACP-072")
@pytest.mark.parametrize(
    "body",
    [
        context(timezone=object()), context(timezone=b"x"), context(timezone=float("nan")), context(timezone="\ud800"),
        {"context": {1: "a", "1": "b"}}, {"context": {"timezone": "UTC", "time\u200bzone": "UTC"}}, [1], "x",
    ],
)  # fmt: skip
def test_what_is_no_plain_json_is_refused(body):
    with pytest.raises(Refused, match="bad_packet"):
        kept(body)


def test_a_body_deeper_than_any_reader_goes_is_refused():
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Refused, match="bad_packet"):
        kept(context(place=deep))


def test_what_is_examined_is_what_is_sent():
    assert kept({"intent": INTENT, "context": Sly(health_info="asthma")})["context"] in (
        {},
        {"timezone": "UTC"},
    )
    place = ["Reading"]
    body = context(place=place)
    found = kept(body)
    place.append("12 High Street")
    assert found["context"] == {"place": ["Reading"]}
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in "asthma")
    assert (
        kept(
            {"intent": {**INTENT, "summary": "Dinner" + hidden}, "context": {"time" + hidden + "zone": "UTC"}}
        )["intent"]["summary"]
        == "Dinner"
    )
    assert kept(context(**{"time" + hidden + "zone": "UTC"}))["context"] == {"timezone": "UTC"}


@pytest.mark.spec("A2ACP-072")
def test_an_unknown_type_is_not_sent():
    with pytest.raises(Refused, match="unknown_type"):
        kept(context(), "space_census")


@pytest.mark.spec("A2ACP-072")
def test_the_schema_sees_the_body_that_leaves_and_its_refusal_stands():
    seen = []

    def check(packet_type, body):
        seen.append((packet_type, dict(body)))
        raise Refused("bad_packet", "no")

    with pytest.raises(Refused, match="bad_packet"):
        clear(draft(context(dietary="x", timezone="UTC")), DEFAULT, {}, frozenset(), NOTHING, check=check)
    assert seen[0][0] == "context"
    assert seen[0][1]["context"] == {"timezone": "UTC"}


@pytest.mark.spec("A2ACP-072")
def test_nothing_but_the_filter_makes_a_cleared_packet():
    makers = {
        path.name
        for path, _ in modules()
        if "Cleared" in path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Cleared"
    }
    # It also gives back what it made and kept, for a packet that had not left.
    assert makers == {"filter.py"}


@pytest.mark.spec("A2ACP-071")
@pytest.mark.parametrize(
    "body",
    [
        {"intent": {**INTENT, "summary": "Dinner for a vegetarian"}, "context": {}},
        {**context(), "reason": "vegetarian"},
        {**context(), "needs": [{"field": "vegetarian", "reason": "r", "priority": "required"}]},
        {**context(), "escalation": {"recommend": "x", "reason": "r", "suggested_prompt": "vege tarian?"}},
        context(timezone="UTC", place="vegetarian town"),
        context(topic="vegetarian food"),
        context(conflict={"field": "time_windows", "attempted_resolution": "vegetarian"}),
        context(proposed_alternatives=[{"option": "vegetarian place", "rationale": ""}]),
        context(dietary="vegetarian", place="nairategev"),
    ],
)
def test_a_value_that_may_not_go_refuses_the_packet_wherever_it_stands(body):
    scanner = Scanner([("dietary", ["vegetarian"]), ("timezone", "Europe/London")])
    with pytest.raises(Refused, match="uncleared_value") as refused:
        kept(body, scanner=scanner)
    assert "vegetarian" not in str(refused.value)
    assert refused.value.details["fields"] == ["dietary"]


@pytest.mark.spec("A2ACP-071")
def test_in_the_texts_of_a_proposal_too():
    scanner = Scanner([("health_info", "asthma attack")])
    for proposal in (
        {"summary": "asthma attack", "details": {}},
        {"summary": "s", "details": {}, "reasoning": "as he has an asthma-attack"},
        {"summary": "s", "details": {}, "alternatives": [{"summary": "s", "reason": "asthma attack"}]},
    ):
        with pytest.raises(Refused, match="uncleared_value"):
            kept({"proposal": proposal}, "resolution", scanner=scanner)
    excuse = {"status": "declined", "message_to_other_agent": "he has an asthma attack"}
    with pytest.raises(Refused, match="uncleared_value"):
        kept(excuse, "resolution_response", scanner=scanner)


@pytest.mark.spec("A2ACP-071")
def test_what_was_just_taken_out_is_looked_for_in_the_rest():
    body = {
        "intent": {**INTENT, "summary": "as he has sarcoidosis"},
        "context": {"health_info": {"since": "sarcoidosis"}},
    }
    with pytest.raises(Refused, match="uncleared_value"):
        kept(body)
    with pytest.raises(Refused, match="uncleared_value"):
        kept(context(timezone="a bad cold", place="a bad cold"))
    stranger = {"intent": {**INTENT, "summary": CAROL}, "context": {"participants": [CAROL]}}
    with pytest.raises(Refused, match="uncleared_value"):
        kept(stranger)


@pytest.mark.spec("A2ACP-071")
def test_what_is_cleared_or_was_said_by_the_counterpart_may_be_said():
    scanner = Scanner(
        [
            ("dietary", "vegetarian"),
            ("known_town", "Reading"),
            ("place", "central Reading"),
            ("health_info", "asthma"),
        ]
    )
    summary = {"intent": {**INTENT, "summary": "vegetarian dinner"}, "context": {}}
    assert kept(summary, scanner=scanner, approved={"dietary": "user_approved"})
    assert kept(summary, scanner=scanner, known=[{"dietary": ["Vegetarian"]}])
    assert kept(context(place="Reading"), scanner=scanner), "part of what may go"
    guess = {"intent": {**INTENT, "summary": "asthma"}, "context": {}}
    with pytest.raises(Refused):
        kept(guess, scanner=scanner, known=["is it asthma?"])


def test_a_place_of_a_field_that_never_goes_is_not_freed_by_another_places_approval():
    scanner = Scanner([("health_info", "clinic at 12 High Street"), ("location_preference", "9 Low Road")])
    approved = {"specific_location": "user_approved"}
    assert kept(
        {"intent": {**INTENT, "summary": "near 9 Low Road"}, "context": {}},
        scanner=scanner,
        approved=approved,
    )
    with pytest.raises(Refused, match="health_info"):
        kept(
            {"intent": {**INTENT, "summary": "near 12 High Street"}, "context": {}},
            scanner=scanner,
            approved=approved,
        )


def test_a_street_is_a_specific_place_even_where_the_owner_noted_it_as_an_area():
    scanner = Scanner([("location_preference", "12 High Street")])
    with pytest.raises(Refused):
        kept({"intent": {**INTENT, "summary": "Dinner near 12 High Street"}, "context": {}}, scanner=scanner)


@pytest.mark.spec("A2ACP-080")
def test_with_every_enrichable_field_asked_first_none_is_in_the_first_packet():
    profile = {
        "time_windows": WINDOWS, "dietary": ["vegetarian"], "location_preference": "central Reading",
        "budget_range": "GBP 30", "transport_mode": "driving", "timezone": "Europe/London", "cuisine_preference": "Italian",
    }  # fmt: skip
    policy = Policy(ask_first=tuple(profile))
    found = examine(context(event_type="dinner", **profile), "context", policy, BOB, {})
    assert found.kept["context"] == {"event_type": "dinner"}
    assert {held.field for held in found.held} == set(profile)
    promoted = tiers.changed(policy, "dietary", Tier.ALWAYS, BOB)
    assert kept(context(**profile), policy=promoted)["context"] == {"dietary": ["vegetarian"]}


@pytest.mark.spec("A2ACP-134", "A2ACP-135")
@pytest.mark.parametrize(
    ("mode", "autonomy", "implied"),
    [
        ("prompt_once", "high", False),
        ("auto", "low", False),
        ("auto", "medium", False),
        ("auto", "high", True),
        ("x", "high", False),
    ],
)
def test_what_the_goal_needs_is_asked_once_and_ticked_or_goes_with_high_autonomy(mode, autonomy, implied):
    policy = tiers.changed(DEFAULT, "transport_mode", Tier.NEVER, BOB)
    fields = ("time_windows", "dietary", "contact_details", "transport_mode", "health_info", "timezone")
    relevant = frozenset({"specific_availability", "dietary", "transport_mode", "health_info"})
    start = implicit.at_start(policy, BOB, fields, relevant, mode=mode, autonomy=autonomy)
    if implied:
        assert start == implicit.Start(
            {"time_windows": "implicit", "dietary": "implicit"}, ("contact_details",), frozenset()
        )
    else:
        ticked = frozenset({"time_windows", "dietary"})
        assert start == implicit.Start({}, ("time_windows", "dietary", "contact_details"), ticked)
    body = context(**dict.fromkeys(fields, "UTC"))
    level = kept(body, policy=policy, approved=start.approved)["permissions"]["consent_level"]
    assert level == ("implicit" if implied else "user_preauthorised")


# Any body and any policy: nothing leaves that may not.

MARKS = [f"quaxmark{letter}{letter}zo" for letter in "abcdefghijklmnop"]
KEYS = [
    "timezone", "place", "dietary", "Dietary", "diet", "health_info", "healthInfo", "password", "known_x", "budget_range",
    "time_windows", "date", "cuisine", "game_preferences", "hobby", "my_salary", "value", "values", "low", "topic", "format",
    "conflict", "flexibility", "proposed_alternatives", "participants", "agent_a_values", "field", "option", "rationale",
    "event_type", "party_size",
]  # fmt: skip
marks = st.sampled_from(MARKS)
fields = st.recursive(
    marks,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
areas = st.dictionaries(st.sampled_from(KEYS), fields, max_size=6)
names = st.sampled_from([key for key in KEYS if key not in {"participants", "field", "option", "rationale"}])
lists = st.lists(names, max_size=4).map(tuple)
policies = st.builds(
    Policy,
    always_share=lists,
    ask_first=lists,
    never_share=lists,
    overrides=st.dictionaries(
        st.just(BOB),
        st.builds(Override, promote_to_always_share=lists, restrict_to_never_share=lists),
        max_size=1,
    ),
)
approvals = st.dictionaries(names, st.sampled_from(["user_approved", "implicit", "claimed"]), max_size=4)


def ways(value, path=()):
    """Each mark with the keys that lead to it: a model of the rule, written without the filter."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ways(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from ways(inner, path)
    elif value in MARKS:
        yield value, path


def may_go(path, policy, approved):
    lists_ = PolicyLookup(policy)
    given_for = {tiers.name(key) for key, basis in approved.items() if basis != "claimed"}

    def released(chain):
        always = lists_.tier(chain, BOB) is Tier.ALWAYS and chain[-1] != "timezone"
        return always or not given_for.isdisjoint(chain)

    def needs_none(chain, free):
        return not free.isdisjoint(chain) and not lists_.named_by_owner(chain)

    if any(tiers.tier(policy, key, BOB) is Tier.NEVER for key in path):
        return False
    top = lists_.chain(path[0])
    if needs_none(top[:1], aliases.STRUCTURAL):
        return True
    words = frozenset({"topic", "format", "event_type"})
    if not released(top) and not needs_none(top, words):
        return False
    field = top[-1]
    for key in path[1:]:
        chain = lists_.chain(key)
        if chain[-1] == field or needs_none(chain, aliases.PARTS | words):
            continue
        if not released(chain) and (lists_.knows(chain) or not given_for):
            return False
        field = chain[-1] if lists_.knows(chain) else field
    return True


@pytest.mark.spec("A2ACP-070", "A2ACP-123", "A2ACP-072")
@settings(max_examples=100, deadline=None)
@given(areas, policies, approvals)
def test_no_value_of_a_field_that_may_not_go_is_in_what_leaves(area, policy, approved):
    try:
        cleared = sent({"intent": INTENT, "context": area}, policy=policy, approved=approved)
    except Refused:
        return
    leaving = json.dumps(cleared.body)
    allowed = {mark for mark, path in ways(area) if may_go(path, policy, approved)}
    for mark in MARKS:
        assert mark not in leaving or mark in allowed
    shared = cleared.body["permissions"]["shared_fields"]
    assert set(shared) == set(cleared.body["context"]) - aliases.STRUCTURAL
    assert set(shared).isdisjoint(cleared.body["permissions"]["withheld_fields"])
    assert not [text for text in cleared.body["permissions"]["withheld_fields"] if text in MARKS]


@settings(max_examples=60, deadline=None)
@given(areas, policies, approvals, st.sampled_from(["summary", "category"]))
def test_a_value_taken_out_is_nowhere_else_either(area, policy, approved, where):
    found = examine({"intent": INTENT, "context": area}, "context", policy, BOB, approved)
    gone = {text for held in found.held for text in strings(held.value) if text in MARKS}
    for mark in gone:
        body = {"intent": {**INTENT, where: f"well, {mark.upper()}!"}, "context": area}
        with pytest.raises(Refused, match="uncleared_value"):
            sent(body, policy=policy, approved=approved)


@settings(max_examples=60, deadline=None)
@given(areas, policies, approvals)
def test_clearing_what_was_cleared_changes_nothing(area, policy, approved):
    try:
        once = sent({"intent": INTENT, "context": area}, policy=policy, approved=approved)
    except Refused:
        return
    again = sent(once.body, policy=policy, approved=approved)
    assert again.body["context"] == once.body["context"]
    assert again.bases == once.bases
