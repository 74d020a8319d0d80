"""Whom a message names: from `to`, from `data.mentions`, and from what people write."""

from __future__ import annotations

import pytest

from tacit.attention import Roster, RosterAgent, RosterPerson, decide
from tacit.attention.read.calls import CalledName, CallStrength
from tacit.attention.read.form import prose
from tacit.attention.read.mentions import declared, in_text, target_of, without_names
from tests.attention.world import ROSTER, event, lead_gets

NAMED = Roster.of(
    [
        RosterAgent("lead"),
        RosterAgent("lead-2"),
        RosterAgent("deploy", names=("Deploy Bot",)),
        RosterAgent("Émile"),
        RosterAgent("v2.ops"),
    ],
    [RosterPerson("usr:ann", ("Ann Lee",))],
)


def names(text: str) -> list[str]:
    return in_text(prose(text), NAMED)


@pytest.mark.spec("C2A-034", "C2A-049")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@lead can you look", ["lead"]),
        ("can you look, @LEAD?", ["lead"]),
        ("(@lead) and @Lead-2!", ["lead", "lead-2"]),
        ("@lead-2", ["lead-2"]),
        ("@Deploy Bot please", ["deploy bot"]),
        ("@deploy please", ["deploy"]),
        ("@émile ça va", ["émile"]),
        ("@v2.ops.", ["v2.ops"]),
        ("@ann lee look", ["ann lee"]),
        ("@ann look", ["ann"]),
        ("@lead's branch", []),
        ("@lead\u2019s branch", []),
        ("_@lead_ look", ["lead"]),
        ("**@lead** look", ["lead"]),
        ("@lead/@deploy look", ["lead", "deploy"]),
        ("请@lead看一下", ["lead"]),
        ("@leadさん、お願いします", ["lead"]),
        ("@lead에게 물어봐", ["lead"]),
        ("@lead not you @deploy", ["deploy"]),
        ("@deploy, not @lead, please", ["deploy"]),
        ('ann said "@lead look at this" yesterday', []),
        ('"@lead look at this"', ["lead"]),
        ("the @deploy annotation is missing", []),
        ("ann said '@émile look at this' yesterday", []),
        ("ann said \u2018@émile don't\u2019 yesterday", []),
        ("it's @émile who can't", ["émile"]),
        ("@émile no, not you @deploy", ["deploy"]),
        ("ann which branch is it", ["ann"]),
        ("ann run the tests", ["ann"]),
        ("ann the build is red", ["ann"]),
        ("ann nvm", ["ann"]),
        ("nvm ann", ["ann"]),
        ("wait ann", ["ann"]),
        ("ok ann, which branch is it", ["ann"]),
        ("ok ann went home", []),
        ("wait, deploy", []),
        ("ann:which branch", ["ann"]),
        ("ann:8080", []),
        ("Émile?", ["Émile"]),
        ("hey ann", ["ann"]),
        ("hello émile the build is red", ["émile"]),
        ("which branch is it, ann?", ["ann"]),
        ("what do you think ann?", ["ann"]),
        ("can you help me ann", ["ann"]),
        ("are you there ann?", ["ann"]),
        ("I hope so Émile.", ["Émile"]),
        ("was meinst du ann?", ["ann"]),
        ("tu en penses quoi, et toi ann?", ["ann"]),
        ("ты думаешь ann?", ["ann"]),
        ("did you see ann?", []),
        ("can you restart ann?", []),
        ("are you ann?", []),
        ("is it ann?", []),
        ("bist du ann?", []),
        ("I talked to ann", []),
        ("we start now deploy", []),
        ("so ann which branch?", ["ann"]),
        ("but ann what about the tests?", ["ann"]),
        ("so ann is the one we need", []),
        ("ann is down", []),
        ("ann will do", ["ann"]),
        ("ann is there a way", ["ann"]),
        ("@lead+@deploy look", ["lead", "deploy"]),
        ("1+@lead", []),
        ("bob+x@lead.example", []),
        ("émile and ann: look", ["émile", "ann"]),
        ("Émile, ann: look", ["Émile", "ann"]),
        ("is it green, lead?", ["lead"]),
        ("it is green, lead", []),
        ("lead which branch is it", []),
        ("ann went home", []),
        ("test and deploy the branch", []),
        ("hi @all", ["all"]),
        ("lead: can you look", ["lead"]),
        ("Lead, can you look", ["lead"]),
        ("  deploy bot: go", ["deploy bot"]),
        ("@nobody @leader @lead_x @lead3", []),
        ("the lead said so", []),
        ("so, lead, what now", []),
        ("I told the lead: no", []),
        ("`@lead` is how you write it", []),
        ("``a `@lead` b``", []),
        ("```\n@lead run\n```", []),
        ("~~~\n@lead run\n~~~", []),
        ("```python\n@lead\ndef f(): ...", []),
        ("> @lead said\nI agree", []),
        ("&gt; @lead said", []),
        ("mail bob@lead or x@lead.example", []),
        ("see https://example.org/@lead and www.example.org/@lead", []),
        ("http://lead@example.org", []),
        ("path/@lead and a.@lead", []),
        ("@@lead", []),
        ("@lead.example.org", []),
        ("unclosed ` @lead", ["lead"]),
        ("```x``` then @lead", ["lead"]),
        ("> quoted\n@lead yours", ["lead"]),
        ("carl said: @lead please look", []),
        ("Carl wrote that @lead should look", []),
        ("carl asked @lead yesterday", []),
        ("carl hat geantwortet und sagte: @lead soll schauen", []),
        ("carl a demandé à @lead de regarder", []),
        ("carl dijo que @lead lo mire", []),
        ("карл сказал: @lead посмотри", []),
        ("as carl said, @lead please look", ["lead"]),
        ("what carl said @lead can you check?", ["lead"]),
        ("like I said: @lead please look", ["lead"]),
        ("said: @lead look", ["lead"]),
        ("@lead sorry, I meant @deploy", ["deploy"]),
        ("@lead I meant the other branch", ["lead"]),
    ],
)
def test_names_in_text(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.spec("C2A-034")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("put @Test above the method", []),
        ("use @Test from JUnit 5", []),
        ("in Java you write @Test before every method", []),
        ("is @Test from junit or testng?", []),
        ("it has to be annotated with @test", []),
        ("@Test public void reads() {}", []),
        ("@Test(timeout=5) fails", []),
        ("@Test can you look at the class", ["test"]),
        ("hey @Test which Java is it", ["test"]),
        ("can you look at that class, @Test?", ["test"]),
        ("fix the java build @Test", ["test"]),
        ("pair with @test on the java build", ["test"]),
        ("the class is in the way of @Ada and me", ["ada"]),
        ("@ada(and bob) look", ["ada"]),
    ],
)
def test_an_annotation_in_a_text_about_code_is_no_agent_of_that_name(text: str, found: list[str]) -> None:
    assert in_text(prose(text), Roster.of([RosterAgent("test"), RosterAgent("ada")])) == found


@pytest.mark.spec("C2A-068")
@pytest.mark.parametrize("text", ["@worker!", "worker!", "@worker"])
def test_a_name_alone_is_a_call_whatever_its_mark(text: str) -> None:
    roster = Roster.of([RosterAgent("nina")])
    assert decide(event(text.replace("worker", "nina")), roster)["nina"].policy == "must_respond"


@pytest.mark.spec("C2A-034")
def test_an_agents_text_names_nobody_and_unknown_names_never_appear() -> None:
    assert lead_gets(event("@lead look", by="worker")).directedness == "to_other"
    assert declared(["agent:lead", {"id": "@Worker"}, 7, None, {"x": 1}]) == ["lead", "Worker"]
    assert declared("lead") == []
    target = target_of(["ghost"], ["phantom"], ROSTER, "user")
    assert not target.is_aimed


@pytest.mark.spec("C2A-067")
@pytest.mark.parametrize(
    "text", ["Lead, thanks", "lead: got it", "thanks, lead!", "@Lead Agent thank you", "ok @lead"]
)
def test_a_name_does_not_turn_thanks_into_a_request(text: str) -> None:
    assert lead_gets(event(text, to=["lead", "worker"])).policy == "must_not_respond"


@pytest.mark.spec("C2A-209")
def test_who_is_called_behind_a_thousand_calls_of_another_is_heard() -> None:
    assert len(names("@lead " * 1_000)) < 100
    assert set(names("@lead " * 1_000 + "@deploy")) == {"lead", "deploy"}
    assert set(names("@lead " * 40_000 + "@deploy")) == {"lead"}


def test_names_are_taken_out_where_they_stand() -> None:
    called = [CalledName(3, 5, "b", CallStrength.SIGNED), CalledName(0, 2, "a", CallStrength.SIGNED)]
    assert without_names("@a @b thanks", called) == "    thanks"
    assert without_names("thanks", []) == "thanks"


def test_a_name_in_any_of_many_quotations_is_not_called() -> None:
    assert names('she said "see @lead" and "ask @deploy", so what?') == []
    assert names('"a" and "b" and @lead and "c"') == ["lead"]


def test_ids_in_to_and_declared_mentions_count_as_names() -> None:
    assert lead_gets(event("look", to=["lead", "worker"])).directedness == "to_me"
    assert lead_gets(event("look", by="worker", mentions=["agent:lead"])).directedness == "to_me"


@pytest.mark.spec("C2A-208")
def test_roles_and_selectors_resolve_to_their_members() -> None:
    target = target_of(["@peers"], [], ROSTER, "user")
    assert target.members == {"worker", "tester"}
    assert target_of(["@peers"], [], ROSTER, "worker").agents == {"tester"}
    assert target_of(["@foreman"], [], ROSTER, "user").agents == {"lead"}
    assert target_of([], ["qa"], ROSTER, "user").agents == {"tester"}
    assert target_of(["@all"], [], ROSTER, "user").everyone
    assert target_of(["@user"], [], ROSTER, "lead").people == {"user"}


def test_a_broadcast_that_reaches_one_session_names_it() -> None:
    pair = Roster.of([RosterAgent("a"), RosterAgent("b")])
    assert decide(event("@all look"), Roster.of([RosterAgent("a")]))["a"].directedness == "to_me"
    assert decide(event("look", by="a", to=["@all"]), pair)["b"].directedness == "to_me"
    assert decide(event("@all look"), pair)["b"].directedness == "to_my_role"


def test_ids_that_differ_by_case_are_told_apart() -> None:
    twins = Roster.of([RosterAgent("bot"), RosterAgent("Bot")])
    assert target_of(["Bot"], [], twins, "user").agents == {"Bot"}
    assert target_of([], in_text("@bot look", twins), twins, "user").agents == {"bot"}
    assert target_of([], in_text("@Bot look", twins), twins, "user").agents == {"Bot"}


@pytest.mark.spec("C2A-051")
def test_a_name_in_private_talk_lets_nobody_in() -> None:
    for what in (
        event("maybe @worker knows, could you ask", to=["lead"]),
        event("maybe worker knows", to=["lead"], mentions=["worker"]),
        event("worker: the plan is risky", to=["lead"], conversation={"kind": "dm"}),
    ):
        decisions = decide(what, ROSTER)
        assert (decisions["worker"].mode, decisions["worker"].policy) == ("silent", "must_not_respond")
        assert decisions["lead"].policy == "must_respond"
