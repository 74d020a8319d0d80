"""Small talk is composed: parts in any order and number, and what is left of a line decides whether it wants something."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention import Roster, RosterAgent, RosterPerson
from tacit.attention.decide.decide import decide
from tacit.attention.read.form import prose
from tacit.attention.read.intent import of_text
from tacit.attention.read.lexicon import languages
from tacit.attention.read.small_talk import LONGEST, SECTIONS, small_talk
from tacit.c2a.vocabulary import OBLIGES_NOBODY, OBLIGING, SOCIAL, Intent, Policy
from tests.attention.corpus import HERE, LANGUAGE_FILES, lines, read
from tests.attention.world import event

ROSTER = Roster.of([RosterAgent("ada"), RosterAgent("bob")], [RosterPerson("usr:ann", ("Ann",))])
CODES = {language.code for language in languages()}


def is_owed(text: str, **data: object) -> bool:
    """Must ada answer a line that is said to her?"""
    found = decide(event(text, by="usr:ann", **(data or {"to": ["ada"]})), ROSTER)
    return found["ada"].policy is Policy.MUST_RESPOND


THANKS, ACK, FILLER, GREETING = Intent.THANKS, Intent.ACKNOWLEDGEMENT, Intent.FILLER, Intent.GREETING
SMALL_TALK = [
    # parts on their own, and put together
    ("ok great", ACK), ("that did it, thanks!", THANKS), ("ok great thanks works now see you tomorrow", THANKS),
    ("oh nice one cheers", THANKS), ("haha ok fair enough", ACK), ("good morning, all good here", GREETING),
    ("agreed, makes sense", ACK), ("well done everyone, have a great weekend", FILLER), ("yes, exactly", ACK),
    # without marks, in capitals, with marks of all kinds
    ("THANKS SO MUCH", THANKS), ("thanks... really", THANKS), ("ok - got it - thanks", THANKS), ("(thanks)", THANKS),
    # letters drawn out, short forms, faces and pictures
    ("thaaanks", THANKS), ("niiiice", FILLER), ("okkkk", ACK), ("sooo good", FILLER), ("heyyyy", GREETING), ("ty", THANKS),
    ("thx, np", THANKS), ("gg", FILLER), ("tysm 🙏", THANKS), ("great 🎉🎉", FILLER), ("thanks :)", THANKS), ("cool <3", FILLER),
    ("lmaooo", FILLER), ("hahahaha", FILLER), ("jajaja", FILLER), ("kkkkkk", FILLER), ("哈哈哈哈哈", FILLER), ("ахахаха", FILLER),
    # slips
    ("thnaks", THANKS), ("thansk a lot", THANKS), ("graet work", FILLER), ("perfct, thanks", THANKS),
    ("dakne dir", THANKS), ("graciass", THANKS), ("thats right", ACK), ("dont mention it", ACK), ("cest parfait merci", THANKS),
    # what its author does next, is happy with or did wrong, beside a part
    ("cool, I'll try that after lunch", FILLER), ("great, merging it now", FILLER), ("works now", ACK),
    ("that saved me an hour", None), ("ok going to grab a coffee and then have a read through", ACK),
    ("oh, my bad, was in the wrong folder", FILLER), ("phew, thought I'd broken prod for a sec", FILLER),
    ("sweet, tests are green now", FILLER), ("alles klar, das mach ich morgen", ACK), ("ok, je m'en occupe", ACK),
    ("vale, lo miro luego", ACK), ("ok ci guardo dopo", ACK), ("blz, vou testar", ACK), ("top, ik kijk er straks naar", FILLER),
    ("ок, гляну вечером", ACK), ("好的，我下午试试", ACK), ("了解です、あとで試してみます", ACK),
    # in the language of some and the words of others
    ("danke, works now", THANKS), ("ok gracias", THANKS), ("super, merci mate", THANKS),
]  # fmt: skip


@pytest.mark.spec("C2A-054", "C2A-067")
@pytest.mark.parametrize(("text", "intent"), SMALL_TALK)
def test_parts_combine_in_any_order_and_spelling(text: str, intent: Intent | None) -> None:
    found = of_text(prose(text))
    assert found in SOCIAL | {GREETING}
    if intent is not None:
        assert found is intent


@pytest.mark.spec("C2A-054", "C2A-067")
@pytest.mark.parametrize(
    "text",
    [
        "great, and what about the logs?", "great and what about the logs", "ok but why", "thanks but it still fails",
        "yes please do that", "sounds good, go ahead", "agreed, ship it", "cool, next one", "perfect, now in german",
        "thanks, still red", "nice, but the numbers look wrong", "ok, it fails again with the same error", "ok and the tests",
        "I'll look at it tomorrow", "merging it now", "yes", "no", "approved", "yes please", "thanks 👎", "ok ❌", "ok?", "thanks?",
        "ok I'll merge it when you are done", "ok I'll need the report", "ok so I asked for the other one", "thanks for nothing but errors",
        "good morning, the build is red", "works, except on arm", "thanks in advance", "clean", "ok clean it", "so", "and then",
        "danke, aber es geht nicht", "ok, teste das nochmal", "ja bitte, leg los", "merci, regarde les logs", "ok vas-y",
        "gracias, falta el logo", "vale, bórralo", "grazie, manca il totale", "ok, procedi", "valeu, faltou o anexo", "ok, pode mandar",
        "dank, het werkt niet", "oké, doe maar", "спасибо, но не работает", "ок, удаляй", "谢谢，但是还是报错", "好，合并吧",
        "ありがとう、でもまだ失敗します", "了解です、進めてください",
    ],
)  # fmt: skip
def test_what_no_part_covers_decides(text: str) -> None:
    assert of_text(prose(text)) not in OBLIGES_NOBODY
    assert is_owed(text)


@pytest.mark.spec("C2A-067")
@pytest.mark.parametrize(
    "text",
    [
        "thanks ada, you rock", "ada thanks", "appreciate you, ada", "great work ada and bob", "gn ada, long day", "ok ada got it",
        "grande ada 👏", "さすがadaさん", "谢谢ada，辛苦了", "@ada ok great", "thanks @bob and @ada!", "ADA you legend", "merci beaucoup ada, c'est parfait",
    ],
)  # fmt: skip
def test_names_stand_anywhere_in_it(text: str) -> None:
    assert not is_owed(text)
    assert not is_owed(text, mentions=["ada"])


@pytest.mark.parametrize("text", ["ada", "@ada", "ok ada, and bob", "did ada do it", "ask ada"])
def test_a_name_alone_or_in_a_question_is_no_small_talk(text: str) -> None:
    assert is_owed(text)


@pytest.mark.spec("C2A-054", "C2A-067")
@pytest.mark.parametrize(
    "file",
    ["social_lines.jsonl", "social_ordinary.jsonl", "social_own.jsonl"],
    ids=["people", "ordinary", "own"],
)
def test_lines_that_want_nothing_are_not_owed_and_those_that_do_are(file: str) -> None:
    """The first two files are by people who have not read the code; of the last a third was right at once."""
    rows = [json.loads(line) for line in (HERE / file).read_text(encoding="utf-8").splitlines()]
    counts = Counter((row["needs_answer"], is_owed(row["text"])) for row in rows)
    assert len(rows) >= 150
    assert (counts[True, True] + counts[False, False]) / len(rows) >= 0.97
    assert counts[True, True] / (counts[True, True] + counts[True, False]) >= 0.99


OPENERS = {
    "en": ("thanks", "ok", "great", "haha", "got it", "works now"), "de": ("danke", "ok", "super", "läuft jetzt"),
    "fr": ("merci", "d'accord", "super", "ça marche"), "es": ("gracias", "vale", "genial", "ya funciona"),
    "it": ("grazie", "ok", "perfetto", "ora funziona"), "pt": ("obrigado", "beleza", "ótimo", "deu certo"),
    "nl": ("bedankt", "oké", "top", "werkt nu"), "ru": ("спасибо", "ок", "супер", "заработало"),
    "zh": ("谢谢", "好的", "不错", "可以了"), "ja": ("ありがとうございます", "了解です", "いいですね", "動きました"),
}  # fmt: skip


def _wishes() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    code = ""
    for line in (HERE / "wishes.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            code = line[1:-1]
        elif line and not line.startswith("#"):
            found.append((code, line))
    return found


@pytest.mark.spec("C2A-067")
@pytest.mark.parametrize("code", sorted(CODES))
def test_small_talk_before_or_behind_it_hides_no_wish(code: str) -> None:
    """Half wishes, complaints and choices, and all labelled lines of the language that ask."""
    labelled = lines("lines.txt") if code == "en" else lines(LANGUAGE_FILES[code])
    wishes = [text for mine, text in _wishes() if mine == code]
    wishes += [text for label, text in labelled if label in OBLIGING]
    assert len(wishes) >= 40
    hidden = [
        said
        for wish in wishes
        for opener in OPENERS[code]
        for said in (wish, f"{opener}, {wish}", f"{wish}, {opener}")
        if read(said) in OBLIGES_NOBODY
    ]
    assert hidden == []


@pytest.mark.spec("C2A-067", "C2A-196")
def test_two_agents_that_thank_or_greet_each_other_stop_at_once() -> None:
    for text in ("thanks ada!", "glad it helped, bye", "good morning", "ok great, works now"):
        found = decide(event(text, by="bob", to=["ada"]), ROSTER)["ada"]
        assert found.policy is Policy.MUST_NOT_RESPOND


def test_what_a_sender_declares_stands_beside_it() -> None:
    assert is_owed("ok great", to=["ada"], intent="request")
    assert not is_owed("could you look", to=["ada"], intent="thanks")


def test_an_answer_is_told_from_mere_thanks() -> None:
    def answers(text: str) -> bool:
        talk = small_talk(text, languages()[:1])
        assert talk is not None
        return talk.answers

    assert [answers(text) for text in ("ok, thanks", "no thanks", "thanks", "works now, thanks", "nice")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_whoever_writes_much_has_more_to_say_than_small_talk() -> None:
    longest = "ok " * (LONGEST // 3)
    assert small_talk(longest, languages()[:1]) is not None
    assert small_talk(longest + "ok", languages()[:1]) is None


@given(st.text(max_size=LONGEST), st.sampled_from(languages()))
def test_any_text_is_read_in_any_language(text: str, language: object) -> None:
    small_talk(text, [language])  # type: ignore[list-item]


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.code)
def test_a_text_of_one_part_over_and_over_is_read_in_its_turn(language: object) -> None:
    """Each wording's first words, repeated: all together within the suite's time limit."""
    for section in SECTIONS:
        for line in language.wordings(section):  # type: ignore[attr-defined]
            word = next(iter(line.replace("(", " ").replace("|", " ").replace(")", " ").split()), "x")
            small_talk((f"{word} " * LONGEST)[: LONGEST - 1] + "x", [language])  # type: ignore[list-item]
