"""The page about attention and its two references, made from the tables of `tacit.attention` and the labelled lines.

Every example on the page is really decided, every figure measured.

python tools/attention_docs.py           write the pages
python tools/attention_docs.py --check   fail when one is stale
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from tacit.attention import ConversationState, Decisions, Roster, RosterAgent, RosterPerson, decide
from tacit.attention.decide.decision import SHOWS
from tacit.attention.decide.explain import POLICIES, sentence
from tacit.attention.decide.matrix import MATRIX
from tacit.attention.read.continuation import TURN
from tacit.attention.read.conversation import Conversation
from tacit.attention.read.cues import KEPT
from tacit.attention.read.dialogue import ENGAGED, FIRST, KNOCK, LIKELY_S, SURE_S
from tacit.attention.read.intent import PERFORMATIVES
from tacit.attention.send.rules import SURFACES
from tacit.attention.settings import DEFAULTS, LIMITS
from tacit.attention.state.claims import TRANSITIONS
from tacit.attention.state.obligations import FINAL, PERMITTED
from tacit.attention.state.work import RECONNECT, WorkState
from tacit.base.moment import SECOND
from tacit.c2a.signals import INBOUND, SIGNALS
from tacit.c2a.vocabulary import OBLIGES_NOBODY, ConversationKind, Disposition, Mode, Policy
from tacit.ledger.envelope import Event

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.attention.corpus import (  # noqa: E402
    LANGUAGE_FILES,
    SOCIAL_LINES,
    agreement,
    destroyed,
    lines,
    read,
    scores,
    silenced,
)
from tools import conversation_pictures  # noqa: E402

PAGE = ROOT / "docs" / "attention.md"
TABLES = ROOT / "docs" / "reference" / "attention.md"
LANGUAGES = ROOT / "docs" / "reference" / "languages.md"
ROSTER = Roster.of(
    [
        RosterAgent("lead", role="foreman"),
        RosterAgent("worker", role="peer", roles=frozenset({"backend"})),
        RosterAgent("tester", role="peer", roles=frozenset({"backend"})),
    ],
    [RosterPerson("usr:ann", ("Ann",))],
)
IN_THREAD = ConversationState(
    conversation=Conversation("main", ConversationKind.THREAD, "e0"), participants=frozenset({"lead"})
)
FOLLOWED = ConversationState(subscribers=frozenset({"lead"}))

BY_POLICY = [
    (
        Policy.MUST_RESPOND,
        "Ann, in the channel",
        "@lead which branch do we release from",
        {},
        ConversationState(),
    ),
    (
        Policy.MAY_RESPOND,
        "Ann, in the channel",
        "@backend who has time for a review",
        {},
        ConversationState(),
    ),
    (
        Policy.ACK_ONLY,
        "Ann, with priority attention",
        "the freeze starts at noon",
        {"priority": "attention"},
        ConversationState(),
    ),
    (Policy.MUST_NOT_RESPOND, "Ann, to lead alone", "thanks, got it!", {"to": ["lead"]}, ConversationState()),
]
BY_MODE = [
    (Mode.IMMEDIATE, "Ann, in the channel", "@lead ok to merge the migration?", {}, ConversationState()),
    (Mode.BUFFERED, "Ann, to lead alone", "where is the runbook", {"to": ["lead"]}, ConversationState()),
    (
        Mode.NOTIFY,
        "Ann, in a thread where lead wrote",
        "the index is the slow part",
        {"reply_to": "e0"},
        IN_THREAD,
    ),
    (Mode.TOOL_MAILBOX, "Ann, in the channel", "lunch was good today", {}, ConversationState()),
    (Mode.DIGEST, "Ann, where lead follows the digest", "build 512 passed", {}, FOLLOWED),
    (Mode.SILENT, "Ann, in the channel", "build 512 passed", {}, ConversationState()),
]

INTRO = """\
# Attention

<!-- Made by tools/attention_docs.py from the tables in packages/c2a/src/tacit/attention; do not edit by hand. -->

For every message and every agent in a room the hub decides three things:

- **Directedness**: is it aimed at this agent?
- **Policy**: must it answer, may it, or must it keep quiet?
- **Mode**: how much of the message does its model see, and when?

The decision is a pure function, `tacit.attention.decide(event, roster, state)`, and asks no model. Whom a message names comes
from its recipients and from `@name` (or `name: ...` at the start); what it wants comes from the sender's declared intent,
a CLowl performative, or rules over its words, which would rather see a request that is none than miss one. Every part of a
decision names its rule, and `tacit why` shows it. All situations, signals, claims and limits are in the
[reference](reference/attention.md).
"""


def decided(text: str, data: dict[str, object], state: ConversationState) -> Decisions:
    """The decisions on an example."""
    event = Event(
        v=1,
        id="e1",
        ts="2026-06-02T19:10:00Z",
        seq=1,
        kind="chat.message",
        group_id="g",
        scope_key="",
        by="usr:ann",
        data={"text": text, **data},
    )
    return decide(event, ROSTER, state)


def policies() -> list[str]:
    """One example for each policy."""
    lines = ["## The four policies", ""]
    for policy, who, text, data, state in BY_POLICY:
        decisions = decided(text, data, state)
        agent = next(name for name in ROSTER.agents if decisions[name].policy is policy)
        lines += [f"**`{policy.value}`**: the agent {POLICIES[policy]}.", "", f"> {who}: {text}", ""]
        lines += [f"{sentence(agent, decisions[agent])}", ""]
    return lines


def modes() -> list[str]:
    """One example for each mode."""
    lines = ["## The six modes", ""]
    for mode, who, text, data, state in BY_MODE:
        decision = decided(text, data, state)["lead"]
        if decision.mode is not mode:
            raise SystemExit(f"the example for {mode} is decided as {decision.mode}")
        lines += [f"**`{mode.value}`**: the model sees {SHOWS[mode]}.", "", f"> {who}: {text}", ""]
        lines += [sentence("lead", decision), ""]
    return lines


DIALOGUE = """\
## Dialogue: lines without a name

People name each other once and then just talk. For each channel the hub remembers who spoke to whom and when in the last
{kept} lines, and none of their words. A line that names nobody and replies to nothing is compared with them: cues such as
the lines since each spoke to the other, whose turn it is, who asked the room and how many speak give one confidence
between 0 and 1 for every agent. Most lines have no such agent.

| confidence | what the agent gets |
|---|---|
| from {turn} | a turn: it must answer what asks on, and may answer the rest |
| from {knock} | a knock: who, where and a topic; no turn |
| less | the mailbox, as everything said to the room |

The confidence comes from a table of small decision trees (`attention/read/grade_table.py`), which `tools/learn_dialogue.py`
learnt from labelled chats ("irc-disentanglement", Kummerfeld et al., ACL 2019, CC-BY-4.0; [how well](benchmarks.md)). The
same lines always give the same decision. Rules stand above it:

- More than {likely} minutes after the last word between two, or after thanks, nothing goes on. After {sure} minutes, or
  where the two had no word yet, a line knocks at most (in the latter case from {first} on, or from {engaged} if the agent
  had just spoken to somebody else).
- Whoever calls somebody else by name has turned to them. "Does anyone …?" is the room's. Thanks oblige nobody.
- Sending an agent away takes its name. "Never mind" without a name calls a question off only until it is answered.
- A nearly written name counts ("clade: which port?" is claude's) while that agent is among those who wrote these lines, if
  the word opens the line with a mark behind it, is no common word of the ten languages, and is the name but for signs, its
  beginning, or one letter. `@clade` reaches nobody, and its author is told.

An owner turns all this off with the setting `dialogue` (names only).
"""


def dialogue() -> list[str]:
    """What dialogue is."""
    return DIALOGUE.format(
        kept=KEPT,
        turn=TURN,
        knock=KNOCK,
        first=FIRST,
        engaged=ENGAGED,
        likely=LIKELY_S // 60,
        sure=SURE_S // 60,
    ).splitlines()


def matrix() -> list[str]:
    """The whole table."""
    lines = [
        "## Situations",
        "",
        "What the agent `lead` gets, by situation; the first that fits counts (`tacit.attention.decide.situation`).",
        "",
        "| situation | because | directedness | policy | mode | example | row |",
        "|---|---|---|---|---|---|---|",
    ]
    for situation, entry in MATRIX.items():
        policy = entry.policy.value + (" after a claim" if entry.needs_claim else "")
        lines.append(
            f"| {situation.value} | {entry.says} | {entry.directedness.value} | {policy} | "
            f"{entry.mode.value} | {entry.example or '-'} | {entry.row} |"
        )
    return [*lines, ""]


def signals() -> list[str]:
    """Signals, dispositions, claims."""
    lines = [
        "## Signals instead of sentences",
        "",
        "| signal | glyph | means | disposition |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{one.name}` | {one.glyph} | {one.meaning} | {one.disposition or 'none: it stays open'} |"
        for one in SIGNALS.values()
    ]
    back = ", ".join(f"`{name}` means {meaning}" for name, meaning in INBOUND.items())
    lines += ["", f"On an agent's own message they come back to it: {back}.", "", "## How an event ends", ""]
    lines += ["| policy | may end as |", "|---|---|"]
    for policy, allowed in PERMITTED.items():
        named = ", ".join(
            f"{one.value}{'' if one in FINAL else ' (open)'}" for one in Disposition if one in allowed
        )
        lines.append(f"| {policy.value} | {named} |")
    lines += ["", "## Claims", "", "```mermaid", "stateDiagram-v2", "    [*] --> free"]
    lines += [
        f"    {state.value} --> {after.value}: {action}" for (state, action), after in TRANSITIONS.items()
    ]
    minutes = DEFAULTS.claim_ttl_ms // 60_000
    lines += [
        "```",
        "",
        f"A claim lasts {minutes} minutes unless its owner speaks or is at its work; then the event is offered again.",
        "",
    ]
    return lines + work()


def work() -> list[str]:
    """How work stands, and what holds a duty."""
    deadline, grace = DEFAULTS.deadline_ms // 60_000, RECONNECT // SECOND
    lines = [
        "## Work",
        "",
        "One question that an agent has taken up is a piece of work. `tacit work` and the page show it.",
        "",
    ]
    lines += ["| state | what it means |", "|---|---|"]
    lines += [f"| {state.value.replace('_', ' ')} | {WORK_MEANS[state]} |" for state in WorkState]
    shares = " and ".join(f"{share:.0%}" for share in DEFAULTS.redeliver_at)
    return [
        *lines,
        "",
        f"A deadline ({deadline} minutes unless the group says otherwise) counts silence, not effort. As long as the agent's",
        "harness is heard of, the work that it reported stays with it, in its queue as well as in a turn. An agent that is",
        "not connected, or has been silent for half a deadline, is shown as out of touch instead of queued or working.",
        f"After silence the agent is reminded (at {shares} of",
        "the deadline), then exactly one other gets the duty, else a person is told. Whoever answers ends every other copy:",
        "its turn is cancelled, and the notice to the person is taken back. A hub that has just started waits "
        f"{grace} seconds for",
        "agents that are not back before time counts against them.",
        "",
    ]


WORK_MEANS: Final = {
    WorkState.QUEUED: "it is the agent's, and waits for its turn; `position` says how many are before it",
    WorkState.WORKING: "a turn runs",
    WorkState.WAITING: "the agent waits for a person, or until a time that it names (the next day's budget)",
    WorkState.ANSWERED: "there is an answer",
    WorkState.FAILED: "the agent's program failed: its code and sentence, when it is tried again, or what to do",
    WorkState.HANDED_OVER: "somebody else has it now, or a person was told",
    WorkState.CALLED_OFF: "edited, deleted, stopped, or answered by somebody else",
}


def sending() -> list[str]:
    """What agents send, limits, CLowl."""
    lines = ["## What an agent sends", "", "| to | the host renders | recipients get |", "|---|---|---|"]
    lines += [f"| {one.goal} | {one.rendered} | {one.effect} |" for one in SURFACES]
    lines += ["", "## CLowl performatives", "", "| performative | intent |", "|---|---|"]
    lines += [f"| {name} | {intent.value} |" for name, intent in PERFORMATIVES.items()]
    lines += ["", "## Limits", "", "Settings of a group; a refusal names the one that it met.", ""]
    lines += ["| setting | default | what it is |", "|---|---|---|"]
    lines += [f"| `{name}` | {getattr(DEFAULTS, name)} | {says} |" for name, says in LIMITS.items()]
    return [*lines, ""]


TABLES_INTRO: Final = """\
# Attention: tables

<!-- Made by tools/attention_docs.py from the tables in packages/c2a/src/tacit/attention; do not edit by hand. -->

[Attention](../attention.md) explains them.
"""


LANGUAGES_INTRO: Final = """\
# Languages

<!-- Made by tools/attention_docs.py from packages/c2a/tests/attention/corpus; do not edit by hand. -->

What a message wants is read in ten languages, each of which is one file of `packages/c2a/src/tacit/attention/read/languages`. A
section of it lists phrases, one a line; `<name>` puts in a part of that name, and parts `before`, `after` and `people`
say what may stand around a clause that is an order. Texts are read in lower case and without
accents, with the marks of ASCII whatever their width or script: a full-width or Arabic question mark is one like any other. To
add a language, add its file, and its lines to `packages/c2a/tests/attention/corpus/languages`.

| section | a text that holds it |
|---|---|
| `safety`, `approval`, `blocker`, `assignment`, `request` | asks for that, wherever it stands |
| `imperative`, `question` | asks, when a clause begins with it |
| `asking` | is a question even without its mark |
| `anybody` | asks whoever knows, when it asks: no agent's in particular, also in a dialogue |
| `status` | reports, when it begins so |
| `leave`, `call_off`, `hold` | is an order when it is one from its first word to its last, with `courtesy` and `reason` |
| `hail`, `before_name`, `after_name`, `before_last_name`, `and`, `not`, `not_you`, `reported`, `title` | calls somebody by a name without a sign, or takes a name out |
| `common` | is in this language: words that others lack |

An order ends work or sends somebody away, so no word of a sentence is enough for one, in any language. A language
without a file is read by marks, names and the dialogue alone; an order in it is an ordinary message, which the agent
itself can follow.

## Small talk

A line is thanks, a receipt, a greeting or filler when such parts cover it from its first word to its last, in any order,
with marks between them and without: "ok great thanks ada, works now, see you tomorrow". What no part covers decides:
"great, and what about the logs" asks, and so does any word that the language's file does not know. Names, laughter,
pictures and faces may stand anywhere; drawn-out letters and a slip in a longer word are read as they are meant.

| section | what it words |
|---|---|
| `thanks`, `acknowledged`, `content`, `greeting`, `praise`, `farewell`, `filler` | the parts: each is small talk alone |
| `plan`, `own` | what its author does next or had feared, and what they are doing or did wrong: small talk only beside another part |
| `answer` | yes and no: small talk only beside another part, and the answer when a question waits |
| `around`, `joins` | what may stand between parts, and what leads over to the next one |
| `turns`, `then`, `trouble`, `listener` | what the rest of an open wording must not hold: a wish or a "but"; an order; trouble; the listener or a choice |
| `laughter` | one word of it, as an expression |

These sections are written in short: `thank(s| you)( so much)?` stands for four wordings, `( very)*` for any number of
that word, `#` for the letters of any word, and `*` for the rest of the clause (`thanks for the *`).

{small_talk}

## How well it is read

The lines were written for this project, by language and not by translation. After the first reading the phrases were
mended where a line showed a gap (of 854 lines 750 had been read as labelled), so these are floors that a test keeps and
no measure of what strangers write. *Right* is read as labelled, *class* at least as what asks, tells, reports or neither.

"""


def small_talk() -> str:
    """How the lines that people wrote without knowing the rules are read."""
    rows = [json.loads(line) for line in SOCIAL_LINES.read_text(encoding="utf-8").splitlines()]
    counts = Counter((row["needs_answer"], read(row["text"]) not in OBLIGES_NOBODY) for row in rows)
    right = counts[True, True] + counts[False, False]
    owed = counts[True, True] + counts[True, False]
    return (
        f"Of {len(rows)} lines in ten languages by somebody who had not read the rules, {right / len(rows):.0%} are read "
        f"right, and {counts[True, True] / owed:.0%} of those that need an answer as such. They were at hand while the "
        "wordings were written; of lines written afterwards, without looking at the wordings, 94% were right at first "
        "sight, and all that need an answer were read so."
    )


def languages() -> str:
    """The page about languages: how the rules do on each one's lines."""
    rows = [
        "| language | lines | right | class | asks: recall | thanks, receipts, filler: precision | orders read into others |"
    ]
    rows.append("|---|---|---|---|---|---|---|")
    files = {"en": "lines.txt", "en, later lines": "unseen.txt", **LANGUAGE_FILES}
    for name, file in files.items():
        labelled = lines(file)
        found = {one.name: one for one in scores(labelled)}
        rows.append(
            f"| {name} | {len(labelled)} | {agreement(labelled):.0%} | {agreement(labelled, by_class=True):.0%} | "
            f"{found['(asks)'].recall:.0%} | {found['(social)'].precision:.0%} | {len(destroyed(labelled))} |"
        )
    lost = sum(len(silenced(lines(file))) for file in files.values())
    intro = LANGUAGES_INTRO.replace("{small_talk}", small_talk())
    return intro + "\n".join([*rows, "", f"Taken for small talk by mistake: {lost}.", ""])


def page() -> str:
    """The explanation, with an example for each policy and mode."""
    return "\n".join([INTRO, *policies(), *modes(), *dialogue(), *conversation_pictures.section()]) + "\n"


def tables() -> str:
    """The reference: situations, signals, claims, work, limits."""
    return "\n".join([TABLES_INTRO, *matrix(), *signals(), *sending()])


def main() -> int:
    """Write or check."""
    pages = {PAGE: page(), TABLES: tables(), LANGUAGES: languages()}
    for one in conversation_pictures.PICTURES:
        pages[PAGE.parent / "images" / f"{one.name}.svg"] = conversation_pictures.drawn(one)
    if "--check" not in sys.argv:
        for path, text in pages.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [
        str(path.relative_to(ROOT))
        for path, text in pages.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for name in stale:
        print(f"{name} is stale: run python tools/attention_docs.py")
    if not stale:
        print("the pages about attention are fresh")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
