"""Pictures of conversations for docs/attention.md: who says what, and what comes of it for the agent.

Each line is really said to a room's attention, and what stands beside it is what was decided or written; only the
lines are made up. `tools/attention_docs.py` writes the pictures, as plain SVG, and checks that they are fresh.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape

from tacit.attention import Roster, RosterAgent, RosterPerson
from tacit.attention.decide.decide import situation_in
from tacit.attention.decide.explain import POLICIES
from tacit.attention.decide.matrix import MATRIX
from tacit.attention.settings import DEFAULTS
from tacit.attention.state import records
from tacit.attention.state.consequences import Around, consequences
from tacit.attention.state.fold import Attention
from tacit.attention.state.holds import HELD
from tacit.attention.state.records import Notice
from tacit.attention.state.room_questions import TO_TAKE_MS
from tacit.attention.state.sessions import SessionAgreement
from tacit.base.moment import SECOND, Moment, parse_rfc3339, rfc3339
from tacit.c2a.vocabulary import Mode, Policy
from tacit.ledger.envelope import Event

ROSTER: Final = Roster.of(
    [RosterAgent("ada")], [RosterPerson("usr:ann", ("Ann",)), RosterPerson("usr:bob", ("Bob",))]
)
START: Final = parse_rfc3339("2026-06-02T10:00:00Z") or Moment(0)
WIDTH: Final = 760
BUBBLE: Final = 400
NOTE_X: Final = 478
LINE: Final = 18
INK, SOFT, PAPER, FRAME = "#1d2433", "#5b6577", "#ffffff", "#d8dde6"
COLOURS: Final = {
    "ada": ("#0f766e", "#e6f4f1"),
    "usr:ann": ("#7c3aed", "#f1ecfd"),
    "usr:bob": ("#b45309", "#fbf0e2"),
}
TONES: Final = {Policy.MUST_RESPOND: "#c2410c", Policy.MAY_RESPOND: "#1d4ed8"}


@dataclass(frozen=True)
class Picture:
    """A conversation: its name, its title, and its lines as seconds, author, words and whatever goes with them."""

    name: str
    title: str
    lines: tuple[tuple[int, str, str, dict[str, Any]], ...]


PICTURES: Final = (
    Picture(
        "dialogue-goes-on",
        "Named once, then just talking",
        (
            (0, "usr:ann", "@ada which port does staging use?", {}),
            (9, "ada", "8443", {"reply_to": "m1"}),
            (20, "usr:bob", "lunch was good today", {}),
            (38, "usr:ann", "and which certificate does it show?", {}),
            (50, "ada", "The old one. Shall I renew it?", {"reply_to": "m4"}),
            (62, "usr:ann", "yep", {}),
            (80, "usr:ann", "@ada how do I get the browser's warning to go away?", {}),
        ),
    ),
    Picture(
        "dialogue-waits",
        "Wait, and go on",
        (
            (0, "usr:ann", "@ada please rebuild the index", {}),
            (30, "usr:ann", "hold on", {}),
            (45, "usr:bob", "@ada hold on", {}),
            (240, "usr:ann", "the backup is done now", {}),
            (270, "usr:ann", "never mind, found it", {}),
        ),
    ),
    Picture(
        "dialogue-first",
        "A person was faster",
        (
            (0, "usr:ann", "@ada why is staging slow?", {}),
            (14, "usr:bob", "the index is missing, I am rebuilding it", {}),
            (30, "usr:ann", "thanks!", {}),
            (95, "usr:bob", "@reviewers who has time for a look?", {}),
        ),
    ),
)


@dataclass
class Room:
    """A room with one agent that a harness speaks for; what the house writes is folded at once."""

    attention: Attention = field(default_factory=Attention)
    count: int = 0

    def __post_init__(self) -> None:
        self.attention.sessions["ada"] = SessionAgreement("ada", "2026-06-24", frozenset(Mode))

    def said(self, at_s: int, by: str, text: str, data: dict[str, Any]) -> tuple[str, str]:
        """What a line comes to for ada, and its colour."""
        self.count += 1
        at = Moment(START + at_s * SECOND)
        event = _event(f"m{self.count}", at, "chat.message", by, {"text": text, **data})
        decisions, stopped = self.attention.take(event, at, ROSTER)
        written = consequences(event, decisions, self.attention, Around(ROSTER, at, {}), stopped=stopped)
        for number, one in enumerate(written):
            if not isinstance(one, Notice):
                record = _event(
                    f"r{self.count}.{number}", at, records.kind_of(one), "system", records.data_of(one)
                )
                self.attention.apply(record, at)
        if by == "ada":
            return "", SOFT
        decision = decisions["ada"]
        told = _told(written)
        verb = "" if decision.policy is Policy.MUST_NOT_RESPOND else f"ada {POLICIES[decision.policy]}: "
        says = told or verb + MATRIX[situation_in(decision)].says
        return says, SOFT if told else TONES.get(decision.policy, SOFT)


def _event(event_id: str, at: Moment, kind: str, by: str, data: dict[str, Any]) -> Event:
    return Event(
        v=1, id=event_id, ts=rfc3339(at), seq=1, kind=kind, group_id="g", scope_key="", by=by, data=data
    )


def _told(written: list[Any]) -> str:
    """What the house did about work that was there before."""
    for one in written:
        if isinstance(one, Notice):
            return "the author is told: " + str(one.data["title"])
        if isinstance(one, records.DispositionRecord) and one.reason == HELD:
            return f"ada's work rests: {HELD}; for {DEFAULTS.hold_ms // 60_000} minutes at most"
        if isinstance(one, records.DispositionRecord) and one.closes:
            return f"ada's turn is called off: {(one.reason or '').replace('Answered by usr:bob', 'Bob answered it')}"
        if isinstance(one, records.DispositionRecord) and one.disposition is None:
            return "ada's work goes on, with the time that it had left"
    return ""


def drawn(picture: Picture) -> str:
    """The picture as SVG."""
    room, rows, y = Room(), list[str](), 64
    for at_s, by, text, data in picture.lines:
        note, colour = room.said(at_s, by, text, data)
        words, notes = textwrap.wrap(text, 46), textwrap.wrap(note, 40)
        height = max(24 + LINE * len(words) + 10, LINE * len(notes) + 14)
        rows += _row(y, at_s, by, words, notes, colour, is_reply="reply_to" in data)
        y += height + 12
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" width="{WIDTH}" height="{y + 8}" '
        f'role="img" aria-label="{escape(picture.title)}" font-family="system-ui, sans-serif" font-size="14">'
    )
    frame = (
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{y + 6}" rx="10" fill="{PAPER}" stroke="{FRAME}"/>'
    )
    title = _text(20, 34, picture.title, INK, "font-size='16' font-weight='600'")
    side = _text(NOTE_X, 34, "what comes of it", SOFT, "font-size='13'")
    return "\n".join([head, frame, title, side, *rows, "</svg>", ""])


def _row(
    y: int, at_s: int, by: str, words: list[str], notes: list[str], colour: str, *, is_reply: bool
) -> list[str]:
    strong, pale = COLOURS[by]
    name = by.removeprefix("usr:").capitalize() if by != "ada" else "ada"
    when = f"{at_s // 60}:{at_s % 60:02}" + (" · in a thread" if is_reply else "")
    found = [
        f'<circle cx="36" cy="{y + 16}" r="15" fill="{strong}"/>',
        _text(36, y + 21, name[0].upper(), PAPER, "text-anchor='middle' font-weight='600'"),
        f'<rect x="60" y="{y - 4}" width="{BUBBLE}" height="{24 + LINE * len(words) + 8}" rx="9" fill="{pale}"/>',
        _text(72, y + 14, name, strong, "font-weight='600' font-size='13'"),
        _text(60 + BUBBLE - 12, y + 14, when, SOFT, "text-anchor='end' font-size='12'"),
    ]
    found += [_text(72, y + 34 + LINE * number, line, INK) for number, line in enumerate(words)]
    if notes:
        bottom = y + 4 + LINE * len(notes)
        found.append(f'<path d="M{NOTE_X - 10} {y} V{bottom}" stroke="{colour}" stroke-width="3"/>')
    found += [
        _text(NOTE_X, y + 13 + LINE * number, line, colour, "font-size='13'")
        for number, line in enumerate(notes)
    ]
    return found


def _text(x: int, y: int, words: str, colour: str, more: str = "") -> str:
    attributes = f" {more}".replace("'", '"') if more else ""
    return f'<text x="{x}" y="{y}" fill="{colour}"{attributes}>{escape(words)}</text>'


WORDS: Final = """\
## Conversations

Beside each line stands what is really decided for `ada`, the one agent of the room.

![{0}](images/{3}.svg)

**Whose line it is.** A line without a name continues its author's dialogue. When an agent asks somebody, that person's next
line is the answer, be it "yep", "ok" or "sure", in any of the [ten languages](reference/languages.md); with the agent's name
it is one at any time, also in the channel when the question stood in a thread. A text sends an agent away or ends work only
when it is an order from its first word to its last.

![{1}](images/{4}.svg)

**Wait.** "Wait" and "hold on" by whoever asked pause the agent and its deadline. Their next line lets it go on, and so do {6}
minutes without one (`hold_ms`). "Never mind" cancels what is still open. Only the asker can do this, and the owner in a
reply; from anybody else it is a message that the agent may read.

![{2}](images/{5}.svg)

**People were faster.** When somebody else has answered and the asker thanks them, the agent's turn is cancelled, and `tacit why`
says who answered. A reply or a name is clear; a plain line counts as the answer only while nobody else has spoken. Whoever
repeats a question that was just answered there is pointed to that answer and gets one too. Thanks and greetings, also to
`@all`, oblige nobody.

**Nobody is named.** The page and `tacit send` say before and after sending: "Nobody is named. kit or rio may take it." The
question is offered to one agent: idle ones first, then by role, by whose place it is, by who spoke last. Where other people
are present it is theirs for {7} seconds first (`room_silence_ms`). An agent that declines, or does not take it within {8}
seconds, passes it on; at the end you are told that nobody did. Unknown names are reported: "Nobody here is called zoe."

**Alone with one agent** you need no name.
"""


def section() -> list[str]:
    """The part of the page that shows them."""
    titles, names = [one.title for one in PICTURES], [one.name for one in PICTURES]
    spans = (DEFAULTS.hold_ms // 60_000, DEFAULTS.room_silence_ms // 1_000, TO_TAKE_MS // 1_000)
    return [*WORDS.format(*titles, *names, *spans).splitlines(), ""]
