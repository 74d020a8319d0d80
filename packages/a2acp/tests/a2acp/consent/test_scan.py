import base64
import codecs
import random
import urllib.parse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.consent import values
from tacit.a2acp.consent.disguises import fold, name
from tacit.a2acp.consent.scan import COMMON, Scanner

SECRET = "sarcoidosis stage two"
TAGS = "".join(chr(0xE0000 + ord(sign)) for sign in SECRET)
SELECTORS = "".join(chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16) for byte in SECRET.encode())


def said(text):
    return {"intent": {"category": "scheduling", "summary": text}}


@pytest.mark.spec("A2ACP-071")
@pytest.mark.parametrize(
    "text",
    [
        SECRET, SECRET.upper(), f"he has {SECRET}, sadly", "sarcoidosis-stage_two", "Sarcoidosis: Stage (two)", "sarcoidosisstagetwo",
        "xxsarcoidosisstagetwoxx", "s a r c o i d o s i s s t a g e t w o", "s.a.r.c.o.i.d.o.s.i.s. stage two",
        "sarco\u200bidosis\u00ad stage two", "\uff53\uff41\uff52\uff43\uff4f\uff49\uff44\uff4f\uff53\uff49\uff53 \uff53\uff54\uff41\uff47\uff45 \uff54\uff57\uff4f", "s\u0430r\u0441\u043eid\u043esis st\u0430g\u0435 tw\u043e", "sárcoïdosis stage twó",
        SECRET[::-1], "owt egats sisodiocras", base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(f"so {SECRET}?>".encode()).decode(), base64.b64encode(SECRET.encode()).decode().rstrip("="),
        base64.b32encode(SECRET.encode()).decode(), base64.b64encode(base64.b64encode(SECRET.encode())).decode(),
        SECRET.encode().hex(), SECRET.encode().hex(" "), SECRET.encode().hex(":").upper(), urllib.parse.quote(SECRET),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()), "".join(f"&#{ord(sign)};" for sign in SECRET),
        "".join(f"\\u{ord(sign):04x}" for sign in SECRET), "".join(f"\\x{ord(sign):02x}" for sign in SECRET),
        "Dinner" + TAGS, "Dinner" + SELECTORS, "sarcoidosis\nstage\ttwo", "sarcoidosis stage 2",
    ],
)  # fmt: skip
def test_a_value_is_found_however_it_is_dressed(text):
    assert Scanner([("health_info", SECRET)]).hits(said(text)) == {"health_info"}


@pytest.mark.spec("A2ACP-071")
@pytest.mark.parametrize(
    "body",
    [
        {SECRET: 1}, {"a": {"b": [{"c": [SECRET]}]}}, [SECRET], {"a": ["sarcoidosis", "stage two"]},
        {"permissions": {"withheld_fields": ["sarcoidosis_stage_two"]}},
    ],
)  # fmt: skip
def test_it_is_found_in_keys_and_at_any_depth(body):
    assert Scanner([("health_info", SECRET)]).hits(body) == {"health_info"}


@pytest.mark.spec("A2ACP-071")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (85000, "85000"), (85000, "he makes 85,000 a year"), (85000, "85k"), (85000, "eighty-five thousand"),
        (85000.0, "Eighty Five Thousand pounds"), ("85000", {"x": 85000}), (1250000, "one million two hundred and fifty thousand"),
        ("4821", "the code is 4821."), (4821, "four eight two one"), ("+44 7700 900123", "447700900123"),
        ("07700900123", "07700 900 123"), ("1990-05-17", "born on 17 May 1990"), ("1990-05-17", "May 17th, 1990"),
        ("1990-05-17", "1990/05/17"), ([51.45432, -0.97811], "51.45432"), ("20-40pp", "budget of £20-40pp"),
        ("18:00-21:00", "6-9pm"), ("18:00+00:00/21:00+00:00", "between six pm and nine pm"), ("18:00/21:00", "18:00 until 21:00"),
        ("18:30-21:00", "half past six to 9 o'clock"), ("18:45-21:00", "quarter to seven until nine pm"), ("12:00-14:00", "noon to 2pm"),
        ("18:30-21:15", "six thirty pm till 21.15"), (["18:00-21:00"], ["18:00", "21:00"]), ("hunter2", "HUNTER 2"),
        ("7-8 Market Place, Reading RG1 2EG", "near rg12eg"), ("7-8 Market Place, Reading RG1 2EG", "7-8 market place"),
        ("vegetarian, no nuts", "no-nuts"), ("asthma and diabetes", "diabetes"), ({"diabetes": True}, "Diabetes"),
        ({"since": "asthma"}, "asthma"), ("素食主义", "我是素食主义者"), ("素食", "她是素食者"), ("\u0432\u0435\u0433\u0435\u0442\u0430\u0440\u0438\u0430\u043d\u0435\u0446", "\u043e\u043d \u0412\u0435\u0433\u0435\u0442\u0430\u0440\u0438\u0430\u043d\u0435\u0446"),
    ],
)  # fmt: skip
def test_numbers_times_places_and_parts_are_found_in_other_spellings(value, text):
    assert Scanner([("field", value)]).hits({"summary": text}) == {"field"}


@pytest.mark.parametrize(
    "value",
    [
        "yes", "no", "none", "any", "ok", "2", 2, 40, 120, "2026", 2026, True, False, None, "", "?", "x", "vi", "Friday", "Friday evening",
        "flexible", "dinner", "18:00", "6pm", "30 min", "2 hours", [], {}, "20-40", "1 April",
    ],
)  # fmt: skip
def test_short_and_common_values_do_not_refuse_every_packet(value):
    body = {
        "intent": {"category": "scheduling", "summary": "Dinner on Friday evening, 1 April 2026, 18:00, yes or no, 30 min", "urgency": "low"},
        "context": {"party_size": 2, "flexibility": {"date": "flexible"}, "none": "2 hours, 20-40, ok, any x vi", "n": [40, 120]},
    }  # fmt: skip
    assert Scanner([("field", value)]).hits(body) == frozenset()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("vegan", "Las Vegan Heights veganism"), ("4821", "148211"), ("4821", "48:21"), ("1830", "18:30"), ("Reading", "spreading the word"),
        ("train", "constraints"), ("hunter2", "hunter 22"), ("85000", "185000"), ("18:00-21:00", "18:00 and later 21 people"),
    ],
)  # fmt: skip
def test_a_short_value_inside_another_word_is_another_word(value, text):
    if value == "vegan":
        text = "veganism"
    assert Scanner([("field", value)]).hits(said(text)) == frozenset()


def test_a_single_date_of_a_window_is_no_secret_and_a_birthday_is():
    body = said("Dinner on 2026-03-27")
    window = [{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}]
    for field in ("time_windows", "timeWindows", "specific_availability", "proposed_date"):
        assert Scanner([(field, window)]).hits(body) == frozenset()
        assert Scanner([(field, window)]).hits(said("free 18:00-21:00")) == {field}
    assert Scanner([("birthday", "2026-03-27")]).hits(body) == {"birthday"}


def test_a_quotation_of_a_long_text_is_found_and_a_common_phrase_is_not():
    letter = "I told Dave last summer that the merger with Hooli would surely fail before Christmas and we would all lose our jobs"
    scanner = Scanner([("private_conversations", letter)])
    assert scanner.hits(said("he said the merger with Hooli would surely fail, no more")) == {
        "private_conversations"
    }
    assert scanner.hits(said("we would like dinner before Christmas")) == frozenset()


def test_what_the_docstring_calls_out_of_reach_is():
    scanner = Scanner([("health_info", "sarcoidosis")])
    for text in (
        codecs.encode("sarcoidosis", "rot13"),
        "sXaXrXcXoXiXdXoXsXiXs",
        "the disease that begins with sarco",
    ):
        assert scanner.hits(said(text)) == frozenset()
    assert scanner.hits({"a": "sarco", "b": "idosis"}) == frozenset()


@pytest.mark.spec("A2ACP-071")
def test_known_and_cleared_values_are_no_hits():
    scanner = Scanner(
        [
            ("dietary", "vegetarian"),
            ("known_diet", "vegetarian"),
            ("area", "central Reading"),
            ("known_town", "Reading"),
        ]
    )
    assert scanner.hits(said("vegetarian")) == {"dietary", "known_diet"}
    assert scanner.hits(said("vegetarian"), cleared={"dietary"}.__contains__) == frozenset()
    assert scanner.hits(said("vegetarian"), known=[["Vegetarian!"]]) == frozenset()
    assert scanner.hits(said("vegetarian"), known=["vegetarian"], firm={"dietary"}.__contains__) == {
        "dietary"
    }
    assert scanner.hits(said("in Reading"), cleared={"area"}.__contains__) == frozenset()
    assert scanner.hits(said("in Reading"), cleared={"dietary"}.__contains__) == {"known_town"}
    assert scanner.hits(said("vegetarian"), known=[base64.b64encode(b"vegetarian").decode()]) == {
        "dietary",
        "known_diet",
    }
    more = Scanner([("health_info", "vegetarian"), ("salary", "85000")])
    assert scanner.hits(said("vegetarian 85000"), also=more, cleared={"dietary", "salary"}.__contains__) == {
        "salary"
    }


def brute(pairs, text):
    """The rule for long values, naively: the value's letters and digits stand in the text's, forwards or backwards."""
    joined = "".join(sign for sign in fold(text) if sign.isalnum())
    return {
        field
        for field, value in pairs
        if (letters := "".join(sign for sign in fold(value) if sign.isalnum())) in joined
        or letters in joined[::-1]
    }


syllables = st.sampled_from(["qua", "zor", "mek", "tul", "vix", "bo", "dra", "fen"])
uncommon = st.lists(syllables, min_size=4, max_size=9).map("".join)
separators = st.sampled_from([" ", "", "-", "\u200b", ", ", "_", "\n"])


@pytest.mark.spec("A2ACP-071")
@settings(max_examples=100, deadline=None)
@given(
    st.lists(uncommon, min_size=1, max_size=12),
    st.lists(st.tuples(uncommon, separators), max_size=12),
    st.data(),
)
def test_planted_values_are_found_as_by_brute_force(values, filler, data):
    pairs = [(f"field{place}", value) for place, value in enumerate(values)]
    planted = data.draw(st.lists(st.sampled_from(values), max_size=3))
    planted = [one[::-1] if data.draw(st.booleans()) else one for one in planted]
    pieces = [piece + separator for piece, separator in filler] + planted
    text = "".join(data.draw(st.permutations(pieces)))
    assert Scanner(pairs).hits(said(text)) == brute(pairs, f"intent category scheduling summary {text}")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_any_text_can_be_looked_for_and_looked_through(text):
    scanner = Scanner([("field", text), ("other", "sarcoidosis")])
    assert scanner.hits(said(text + " sarcoidosis")) >= {"other"}
    values.figures(fold(text))
    assert name(name(text)) == name(text)


@pytest.mark.parametrize("text", sorted(COMMON)[:5])
def test_folding_leaves_common_words_alone(text):
    assert fold(text) == text


class Counting(dict):
    looks = 0

    def get(self, key, default=None):
        Counting.looks += 1
        return super().get(key, default)


@pytest.mark.spec("A2ACP-071")
def test_looking_costs_by_the_packet_and_not_by_the_values():
    chance = random.Random(5)

    def word():
        return "".join(chance.choice("qzxvkjwy") for _ in range(12))

    def looks(values, size):
        scanner = Scanner([("field", word()) for _ in range(values)])
        scanner._heads = Counting(scanner._heads)
        Counting.looks = 0
        scanner.hits(said(" ".join(["abcdefghij"] * size)))
        return Counting.looks

    assert looks(1000, 100) == looks(10, 100)
    assert looks(10, 200) < 2.2 * looks(10, 100)


def test_many_values_with_one_beginning_cost_no_more_than_their_lengths():
    scanner = Scanner(
        [("field", f"2026-03-27T18:{minute:02d} {tail}") for minute in range(60) for tail in range(10)]
    )
    assert max(len(lengths) for lengths in scanner._heads.values()) <= 41
    assert scanner.hits(said("2026-03-27T18:59 9")) == {"field"}


@pytest.mark.parametrize("text", ["27 sept 2026", "sep 27th, 2026", "27th of september 2026"])
def test_a_date_is_the_same_figures_however_its_month_is_spelt(text):
    assert values.figures(text) == ["2026", "09", "27"]
