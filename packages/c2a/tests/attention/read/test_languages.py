"""Ten languages, each tested apart on lines of its own; what has no file is read by form, and never as an order."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

import pytest

from tacit.attention import Roster, RosterAgent, RosterPerson
from tacit.attention.read import small_talk
from tacit.attention.read.calls import calls
from tacit.attention.read.form import prose
from tacit.attention.read.intent import of_text
from tacit.attention.read.lexicon import MARKS, folded, languages, languages_of
from tacit.attention.read.mentions import in_text
from tacit.c2a.vocabulary import OBLIGING, SOCIAL, Intent
from tests.attention.corpus import (
    DESTRUCTIVE,
    LANGUAGE_FILES,
    agreement,
    destroyed,
    lines,
    read,
    scores,
    silenced,
)

KNOWN = {"en", "de", "fr", "es", "pt", "it", "nl", "ru", "zh", "ja"}
SECTIONS = {
    *small_talk.SECTIONS, "laughter", "safety", "approval", "blocker", "assignment", "request", "imperative",
    "asking", "status", "leave", "call_off", "hold", "courtesy", "reason", "politely", "strong", "hail",
    "after_name", "before_name", "not_you", "and",
}  # fmt: skip
ROSTER = Roster.of([RosterAgent("ada"), RosterAgent("bob")], [RosterPerson("usr:ann", ("Ann",))])


def test_each_language_is_one_file_with_every_section() -> None:
    assert {language.code for language in languages()} >= KNOWN
    folder = resources.files("tacit.attention.read") / "languages"
    for code in KNOWN:
        written = tomllib.loads((folder / f"{code}.toml").read_text(encoding="utf-8"))
        assert SECTIONS - written.keys() == set(), code


@pytest.mark.parametrize("code", sorted(KNOWN - {"en"}))
def test_a_language_holds_its_floors_on_its_own_lines(code: str) -> None:
    labelled = lines(LANGUAGE_FILES[code])
    assert len(labelled) >= 60
    found = {one.name: one for one in scores(labelled)}
    assert {label for label, _ in labelled} >= {
        *SOCIAL, Intent.GREETING, Intent.QUESTION, Intent.REQUEST, Intent.APPROVAL, Intent.BLOCKER, Intent.ASSIGNMENT,
        Intent.STATUS, Intent.PLAIN, Intent.CANCELLATION, Intent.HOLD, Intent.LEAVE_REQUEST, Intent.SAFETY,
    }  # fmt: skip
    assert agreement(labelled) >= 0.95
    assert found["(asks)"].recall >= 0.97
    assert found["thanks"].recall >= 0.95
    assert silenced(labelled) == []


@pytest.mark.spec("C2A-054")
@pytest.mark.parametrize("file", ["lines.txt", "unseen.txt", *LANGUAGE_FILES.values()])
def test_nothing_but_an_order_is_read_as_one(file: str) -> None:
    assert destroyed(lines(file)) == []


def test_a_language_without_a_file_is_read_by_its_marks_and_is_never_small_talk_or_an_order() -> None:
    labelled = lines(LANGUAGE_FILES["other"])
    assert agreement(labelled) == 1.0
    assert not {read(text) for _, text in labelled} & (DESTRUCTIVE | SOCIAL)


@pytest.mark.parametrize("code", sorted(KNOWN - {"en"}))
def test_no_order_survives_a_question_or_a_third_thing(code: str) -> None:
    """Every order of a language, asked about or told of, is no order any more."""
    for label, text in lines(LANGUAGE_FILES[code]):
        if label in DESTRUCTIVE:
            plain = text.rstrip("?!. ？！。")
            assert read(f"{plain} xkcd qwertz asdf {plain} yxcv") not in DESTRUCTIVE, text
            assert read(f"« {plain} » ? xkcd") not in DESTRUCTIVE, text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("danke", "de"),
        ("kannst du mal den Build anschauen", "de"),
        ("peux-tu relancer le build", "fr"),
        ("puedes relanzar el build", "es"),
        ("você pode rodar o build de novo", "pt"),
        ("puoi rilanciare la build", "it"),
        ("kun je de build opnieuw draaien", "nl"),
        ("перезапусти билд", "ru"),
        ("重新构建一下", "zh"),
        ("ビルドをもう一度お願いします", "ja"),
        ("could you run the build again", "en"),
        ("rebase main", "en"),
        ("no, the other one is red", "en"),
    ],
)
def test_a_text_is_read_in_its_language(text: str, code: str) -> None:
    said = folded(text)
    assert languages_of(said, set(re.findall(r"\w+(?:'\w+)*", said)))[0].code == code


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("muito obrigado", Intent.THANKS),
        ("nao precisa mais, obrigado", Intent.CANCELLATION),  # without its accents
        ("koenntest du das pruefen", Intent.REQUEST),
        ("ko\u0308nntest du das pru\u0308fen", Intent.REQUEST),  # accents as signs of their own
        ("ｔｈａｎｋｓ", Intent.THANKS),
        ("这样可以吗？", Intent.APPROVAL),
        ("好了吗", Intent.QUESTION),
        ("谢谢 can you also check the docs", Intent.REQUEST),
        ("danke, could you also update the docs", Intent.REQUEST),
        ("merci mais c'est toujours rouge", Intent.PLAIN),
        ("谢谢" + "这个测试还是失败" * 40 + "请再看一下", Intent.REQUEST),
    ],
)
def test_spelling_width_and_mixture_do_not_matter(text: str, intent: Intent) -> None:
    assert of_text(prose(text)) is intent


@pytest.mark.spec("C2A-034")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("请@ada看一下", ["ada"]),
        ("@adaさん、お願いします", ["ada"]),
        ("＠ada 看一下", ["ada"]),
        ("ada：看一下", ["ada"]),
        ("ＡＤＡ：look？", ["ada"]),
        ("谢谢ada", ["ada"]),
        ("warte ada", ["ada"]),
        ("ada，你能看一下吗？", ["ada"]),
        ("ada你能看一下吗", ["ada"]),
        ("adaさん、これ見て", ["ada"]),
        ("你好ada", ["ada"]),
        ("ada и bob: гляньте логи", ["ada", "bob"]),
        ("ada und bob: schaut mal", ["ada", "bob"]),
        ("ada kannst du mal schauen", ["ada"]),
        ("ada peux-tu regarder", ["ada"]),
        ("hola ada", ["ada"]),
        ("ada можешь глянуть", ["ada"]),
        ("@ada nicht du @bob", ["bob"]),
        ("@ada pas toi, @bob", ["bob"]),
        ("ada ist im Urlaub", []),
        ("adam war hier", []),
    ],
)
def test_a_name_is_called_in_every_script(text: str, names: list[str]) -> None:
    said = prose(text.translate(MARKS))
    assert in_text(said, ROSTER) == names
    assert len(calls(said, ROSTER)) >= len(names)


@pytest.mark.parametrize("code", sorted(KNOWN))
def test_a_phrase_repeated_without_end_is_read_in_its_turn(code: str) -> None:
    labelled = lines(LANGUAGE_FILES[code]) if code != "en" else lines()
    for text in dict(labelled).values():
        assert of_text(prose(f"{text} " * 400)) in Intent
        assert of_text(prose(text * 400 + "x")) in Intent


def test_thanks_in_any_language_oblige_nobody_and_requests_do() -> None:
    for code in KNOWN - {"en"}:
        for label, text in lines(LANGUAGE_FILES[code]):
            if label is Intent.REQUEST:
                assert read(text) in OBLIGING, text
