import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.a2acp.consent import aliases, tiers
from tacit.a2acp.consent.tiers import DEFAULT, Override, Policy, Tier
from tacit.base.errors import Refused
from tests.post_support import ALICE, BOB

CAROL = "agent:carol@a2acp.io"
FIELDS = [
    *DEFAULT.always_share,
    *DEFAULT.ask_first,
    *DEFAULT.never_share,
    "shoe_size",
    "time_windows",
    "cuisine",
]
STRICTNESS = [Tier.ALWAYS, Tier.ASK, Tier.NEVER]


def respelt(field, how):
    return {
        "upper": field.upper(),
        "dashes": field.replace("_", "-"),
        "spaces": f"  {field.replace('_', ' ')} ",
        "camel": "".join(part.capitalize() for part in field.split("_")),
        "small camel": field[0] + "".join(part.capitalize() for part in field.split("_"))[1:],
        "joined": field.replace("_", ""),
        "wide": "".join(chr(ord(sign) + 0xFEE0) if sign.isalpha() else sign for sign in field),
        "zero width": "\u200b".join(field),
        "cyrillic": field.translate(str.maketrans("aeocpxi", "\u0430\u0435\u043e\u0441\u0440\u0445\u0456")),
        "accents": field.replace("a", "á").replace("i", "ì"),
        "tags": field + "".join(chr(0xE0000 + ord(sign)) for sign in "secret"),
        "dots": field.replace("_", "."),
    }[how]


SPELLINGS = [
    "upper", "dashes", "spaces", "camel", "small camel", "joined", "wide", "zero width", "cyrillic", "accents", "tags",
    "dots",
]  # fmt: skip


@pytest.mark.spec("A2ACP-120")
def test_a_new_owner_shares_timezone_and_area_and_is_asked_for_the_rest():
    assert DEFAULT.always_share == ("timezone", "general_location_area")
    expected = {
        Tier.ALWAYS: ["timezone", "general_location_area"],
        Tier.ASK: [
            "general_availability", "event_preferences", "specific_availability", "dietary", "budget_range",
            "specific_location", "transport_mode", "contact_details", "project_details",
        ],
        Tier.NEVER: [
            "health_info", "financial_details_beyond_budget", "work_schedule_internals", "private_conversations",
            "passwords_or_credentials", "other_peoples_information",
        ],
    }  # fmt: skip
    for tier, fields in expected.items():
        assert {field: tiers.tier(DEFAULT, field, BOB) for field in fields} == dict.fromkeys(fields, tier)


@pytest.mark.spec("A2ACP-119", "A2ACP-123", "A2ACP-122")
def test_an_override_comes_before_the_base_tier_and_an_unknown_field_is_asked():
    policy = Policy(
        always_share=("timezone",),
        ask_first=("dietary",),
        never_share=("health_info",),
        overrides={BOB: Override(label="friend", promote_to_always_share=("dietary",), notes="weekly")},
    )
    assert tiers.tier(policy, "timezone", BOB) is Tier.ALWAYS
    assert tiers.tier(policy, "dietary", BOB) is Tier.ALWAYS
    assert tiers.tier(policy, "dietary", CAROL) is Tier.ASK
    assert tiers.tier(policy, "health_info", BOB) is Tier.NEVER
    assert tiers.tier(policy, "shoe_size", BOB) is Tier.ASK
    assert policy.overrides[BOB].label == "friend"
    assert policy.overrides[BOB].notes == "weekly"


@pytest.mark.spec("A2ACP-124")
def test_of_two_lists_the_stricter_wins():
    both = Policy(always_share=("dietary", "x", "y"), ask_first=("dietary", "y"), never_share=("x",))
    assert tiers.tier(both, "dietary", BOB) is Tier.ASK
    assert tiers.tier(both, "y", BOB) is Tier.ASK
    assert tiers.tier(both, "x", BOB) is Tier.NEVER
    two = Override(promote_to_always_share=("dietary",), restrict_to_never_share=("dietary",))
    assert tiers.tier(Policy(overrides={BOB: two}), "dietary", BOB) is Tier.NEVER


@pytest.mark.spec("A2ACP-121")
@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("time_windows", "specific_availability"),
        ("date", "specific_availability"),
        ("location_preference", "general_location_area"),
        ("personal_location", "specific_location"),
        ("postcode", "specific_location"),
        ("street", "specific_location"),
        ("coordinates", "specific_location"),
        ("cuisine_preference", "event_preferences"),
        ("game_preferences", "event_preferences"),
        ("known_dietary", "other_peoples_information"),
        ("knownLocation", "other_peoples_information"),
        ("Known-Anything At All", "other_peoples_information"),
        ("shoe_size", "shoe_size"),
    ],
)
def test_keys_stand_for_the_fields_of_the_shipped_table(key, field):
    assert tiers.canonical(DEFAULT, key) == field


@pytest.mark.spec("A2ACP-121")
@pytest.mark.parametrize("how", SPELLINGS)
@pytest.mark.parametrize("field", FIELDS)
def test_a_field_has_one_tier_however_it_is_spelt(field, how):
    if field == "shoe_size" and how == "joined":
        return
    assert tiers.tier(DEFAULT, respelt(field, how), BOB) is tiers.tier(DEFAULT, field, BOB)


@pytest.mark.spec("A2ACP-121")
def test_the_owners_own_names_come_before_the_shipped_table_and_cannot_free_a_secret():
    policy = Policy(
        always_share=("mood", "timezone"),
        never_share=("health_info",),
        aliases={
            "Game Preferences": "mood",
            "password": "mood",
            "passwords_or_credentials": "mood",
            "health_info": "mood",
        },
    )
    assert tiers.tier(policy, "gamePreferences", BOB) is Tier.NEVER, "mood is what health_info is called here"
    policy = Policy(
        always_share=("mood",), aliases={"Game Preferences": "mood", "password": "mood", "a": "b", "b": "a"}
    )
    assert tiers.tier(policy, "gamePreferences", BOB) is Tier.ALWAYS
    assert tiers.tier(policy, "cuisine_preference", BOB) is Tier.ASK
    assert tiers.tier(policy, "password", BOB) is Tier.NEVER
    assert tiers.tier(policy, "passwords_or_credentials", BOB) is Tier.NEVER
    assert tiers.tier(policy, "a", BOB) is Tier.ASK


@pytest.mark.parametrize(
    "key", ["my_health_info", "healthInfoDetails", "wifi password", "health_info_2", "a_b_salary_c"]
)
def test_an_unknown_name_that_contains_a_withheld_one_is_withheld(key):
    assert tiers.tier(DEFAULT, key, BOB) is Tier.NEVER


def test_releasing_a_part_releases_no_sibling_and_restricting_a_part_restricts_the_whole():
    part = Policy(
        ask_first=("event_preferences",), overrides={BOB: Override(promote_to_always_share=("cuisine",))}
    )
    assert tiers.tier(part, "cuisine", BOB) is Tier.ALWAYS
    assert tiers.tier(part, "game_preferences", BOB) is Tier.ASK
    assert tiers.tier(part, "event_preferences", BOB) is Tier.ASK
    whole = Policy(
        always_share=("specific_location",),
        overrides={BOB: Override(restrict_to_never_share=("personal_location",))},
    )
    assert tiers.tier(whole, "specific_location", BOB) is Tier.NEVER
    assert tiers.tier(whole, "postcode", BOB) is Tier.NEVER
    assert tiers.tier(whole, "postcode", CAROL) is Tier.ALWAYS


@pytest.mark.spec("A2ACP-124")
@pytest.mark.parametrize("counterpart", [None, BOB])
def test_what_is_never_shared_is_promoted_only_with_a_typed_confirmation(counterpart):
    with pytest.raises(Refused, match="confirmation_needed"):
        tiers.changed(DEFAULT, "health_info", Tier.ALWAYS, counterpart)
    after = tiers.changed(DEFAULT, "Health-Info", Tier.ALWAYS, counterpart, confirmed=True)
    assert tiers.tier(after, "health_info", BOB) is Tier.ALWAYS
    assert tiers.tier(after, "health_info", CAROL) is (Tier.ALWAYS if counterpart is None else Tier.NEVER)


@pytest.mark.spec("A2ACP-124")
def test_asking_about_what_is_never_shared_is_a_promotion_too():
    with pytest.raises(Refused, match="confirmation_needed"):
        tiers.changed(DEFAULT, "health_info", Tier.ASK)
    assert (
        tiers.tier(tiers.changed(DEFAULT, "health_info", Tier.ASK, confirmed=True), "health_info", BOB)
        is Tier.ASK
    )


@pytest.mark.spec("A2ACP-124")
@pytest.mark.parametrize(
    "field", ["passwords_or_credentials", "other_peoples_information", "password", "known_dietary"]
)
@pytest.mark.parametrize("tier", [Tier.ALWAYS, Tier.ASK])
@pytest.mark.parametrize("counterpart", [None, BOB])
def test_secrets_and_other_people_are_promoted_by_nobody(field, tier, counterpart):
    with pytest.raises(Refused, match="never_released"):
        tiers.changed(DEFAULT, field, tier, counterpart, confirmed=True)
    forced = Policy(always_share=(field,), overrides={BOB: Override(promote_to_always_share=(field,))})
    assert tiers.tier(forced, field, BOB) is Tier.NEVER


def test_a_change_that_another_entry_undoes_is_refused():
    restricted = tiers.changed(DEFAULT, "specific_availability", Tier.NEVER, BOB)
    with pytest.raises(Refused, match="other_entry_holds"):
        tiers.changed(restricted, "time_windows", Tier.ALWAYS, BOB)
    with pytest.raises(Refused, match="other_entry_holds"):
        tiers.changed(DEFAULT, "timezone", Tier.ASK, BOB)
    assert (
        tiers.tier(tiers.changed(restricted, "specific_availability", Tier.ASK, BOB), "date", BOB) is Tier.ASK
    )


@given(
    st.sampled_from(FIELDS),
    st.sampled_from(STRICTNESS),
    st.sampled_from([None, BOB]),
    st.sampled_from(FIELDS),
)
def test_a_change_does_what_it_says_and_loosens_nothing_else(field, to, counterpart, other):
    try:
        after = tiers.changed(DEFAULT, field, to, counterpart, confirmed=True)
    except Refused:
        return
    assert tiers.tier(after, field, BOB) is to
    if field not in tiers.PolicyLookup(DEFAULT).chain(other):
        loosened = STRICTNESS.index(tiers.tier(after, other, BOB)) < STRICTNESS.index(
            tiers.tier(DEFAULT, other, BOB)
        )
        assert not loosened


names = st.sampled_from([*FIELDS, *aliases.SHIPPED, "shoe_size", "hobby"])
lists = st.lists(names, max_size=4).map(tuple)
overrides = st.builds(Override, promote_to_always_share=lists, restrict_to_never_share=lists)
policies = st.builds(
    Policy,
    always_share=lists,
    ask_first=lists,
    never_share=lists,
    overrides=st.dictionaries(st.sampled_from([ALICE, CAROL]), overrides),
)


@pytest.mark.spec("A2ACP-127")
@given(policies, overrides, names)
def test_an_override_for_one_changes_nothing_for_others(policy, override, field):
    more = Policy(
        always_share=policy.always_share,
        ask_first=policy.ask_first,
        never_share=policy.never_share,
        overrides={**policy.overrides, BOB: override},
    )
    for other in (ALICE, CAROL, "agent:dave@a2acp.io", "agent:bob@elsewhere.io"):
        assert tiers.tier(more, field, other) is tiers.tier(policy, field, other)


@pytest.mark.spec("A2ACP-121")
@given(policies, names, st.sampled_from(SPELLINGS))
def test_no_spelling_widens_what_a_policy_says(policy, field, how):
    spelt, plain = tiers.tier(policy, respelt(field, how), ALICE), tiers.tier(policy, field, ALICE)
    assert STRICTNESS.index(spelt) >= min(STRICTNESS.index(plain), STRICTNESS.index(Tier.ASK))
    if field in aliases.WORDS:
        assert spelt is plain
