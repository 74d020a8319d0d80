"""`tacit agent inbox`: questions, threads, notices and receipts on a whole screen (A2ACP-273).

A list on the left, the chosen one on the right, the keys below. Questions are the cards of `agent_card`, with
the same keys; everything follows the agent live. Texts go in as texts, never as markup.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final, cast

from rich.text import Text
from textual.app import App
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from tacit.agent.shell.commands import arrange_show
from tacit.agent.shell.commands.desk import card as agent_card
from tacit.agent.shell.commands.desk import card_show
from tacit.agent.shell.commands.desk.card_show import Line, key_lines, name_of
from tacit.agent.shell.commands.desk.desk import Desk
from tacit.agent.terminal.commands.values import basis_text, plain, value_text, when, who
from tacit.base import agent_operations as operations
from tacit.base.agent_owner_results import Disclosure
from tacit.base.agent_results import NoticeResult, ThreadLine
from tacit.base.commands import terminal
from tacit.base.commands.quotation import label, quoted
from tacit.base.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tacit.agent.shell.commands.desk.line import Line as AgentLine
    from tacit.base.agent_results import QuestionResult

QUESTIONS: Final = "Questions"
THREADS: Final = "Threads"
NOTICES: Final = "Notices"
RECEIPTS: Final = "Receipts"
VIEWS: Final = (QUESTIONS, THREADS, NOTICES, RECEIPTS)
MOST_ROWS: Final = 500
ROW: Final = 34
"""Cells of a row."""
LOST: Final = "lost"
STYLES: Final = {
    "title": "bold",
    "who": "bold cyan",
    "own": "#b48ead",
    "quote": "italic",
    "key": "bold green",
    "dim": "dim",
    "warn": "bold red",
    "notice": "yellow",
    "chosen": "green",
    "cursor": "reverse",
    "off": "dim",
    "on": "bold reverse",
}
_NAMED: Final = frozenset(
    {"enter", "escape", "backspace", "delete", "up", "down", "left", "right", "home", "end"}
)
_EMPTY: Final = {
    QUESTIONS: "Nothing waits for you. New questions come up here.",
    THREADS: 'Nothing is being arranged: tacit agent ask "dinner with …"',
    NOTICES: "Nothing yet.",
    RECEIPTS: "Nothing of yours has left.",
}


def drawn(lines: list[Line]) -> Text:
    """Lines as rich takes them."""
    text = Text()
    for number, line in enumerate(lines):
        if number:
            text.append("\n")
        for style, part in line:
            text.append(part, STYLES.get(style, ""))
    return text


class Inbox(App[str]):
    """The whole screen."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "Tacit"
    CSS = """
    Screen { background: $background; scrollbar-color: $panel-lighten-2; }
    #top { height: 1; padding: 0 1; background: $panel; }
    #body { height: 1fr; }
    #list {
        width: 38; height: 1fr; padding: 1 0 0 0; border: none; border-right: solid $panel-lighten-2;
        background: $background; scrollbar-size-vertical: 1;
        scrollbar-color: $panel-lighten-2; scrollbar-background: $background;
    }
    #list > .option-list--option { padding: 0 1; }
    #list > .option-list--option-highlighted { background: $primary 30%; text-style: none; color: $text; }
    #pane { width: 1fr; height: 1fr; padding: 1 2; scrollbar-size-vertical: 1; }
    #told { height: auto; max-height: 5; padding: 0 1; }
    #keys { height: auto; max-height: 3; padding: 0 1; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "view(1)", priority=True),
        Binding("shift+tab", "view(-1)", priority=True),
        Binding("ctrl+c", "leave", priority=True),
        Binding("pageup", "scroll(-1)", priority=True),
        Binding("pagedown", "scroll(1)", priority=True),
    ]

    def __init__(self, line: AgentLine, former: Inbox | None = None) -> None:
        super().__init__()
        self._line = line
        self.desk = Desk(line, via="inbox", changed=self._changed)
        if former is not None:
            self.desk.inherit(former.desk)
        self.view = QUESTIONS
        self._rows: Sequence[ThreadLine | NoticeResult | Disclosure] = ()
        """What the list shows, in views other than questions."""
        self._at = 0
        self._detail: list[Line] | Text = []
        self._events: list[Line] = []
        self._pressed: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self._stale = asyncio.Event()
        self._me = ""
        self.fault: BaseException | None = None

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="top", markup=False)
        with Horizontal(id="body"):
            chooser = OptionList(id="list", markup=False, compact=True)
            chooser.can_focus = False
            yield chooser
            with VerticalScroll(id="pane", can_focus=False):
                yield Static(id="detail", markup=False)
        yield Static(id="told", markup=False)
        yield Static(id="keys", markup=False)

    async def on_mount(self) -> None:
        """Begin to follow."""
        self._me = (await self._line.call(operations.ME)).address
        for work in (self.desk.follow(), self._work(), self._draw()):
            self.run_worker(work, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours ends the screen, and is raised behind it.

        Textual would print it with everything that was in memory, and so with the owner's values.
        """
        if event.state is WorkerState.ERROR:
            self.fault = cast("Worker[None]", event.worker).error  # pyright: ignore[reportUnknownMemberType]
            self.exit(LOST if isinstance(self.fault, ConnectionError) else agent_card.QUIT)

    async def attend(self) -> str:
        """Until its owner leaves (`quit`), or the agent behind it stops (`lost`)."""
        ended = await self.run_async()
        if self.fault is not None and not isinstance(self.fault, ConnectionError):
            raise self.fault
        return ended or agent_card.QUIT

    # What happens.

    async def _work(self) -> None:
        while True:
            at, key = await self._pressed.get()
            # A key is for what was shown when it was pressed.
            if self.view == QUESTIONS and at != self.desk.current and key != "q":
                continue
            if await self._press(key) == agent_card.QUIT:
                break
        self.exit(agent_card.QUIT)

    async def _press(self, key: str) -> str:
        card = self.desk.card if self.view == QUESTIONS else None
        typing = card is not None and card.mode in agent_card.TYPING
        if not typing and key in {"up", "down"}:
            self._move(1 if key == "down" else -1)
            return ""
        if not typing and key in {"left", "right"}:
            self.action_view(1 if key == "right" else -1)
            return ""
        if self.view == QUESTIONS:
            return await self.desk.press(key)
        return agent_card.QUIT if key == "q" else ""

    def _move(self, by: int) -> None:
        if self.view == QUESTIONS:
            names = list(self.desk.cards)
            if names:
                now = names.index(self.desk.current) if self.desk.current in names else -by
                self.desk.choose(names[(now + by) % len(names)])
        elif self._rows:
            self._at = (self._at + by) % len(self._rows)
            self._changed()

    def action_view(self, by: int) -> None:
        """The next view, or the one before."""
        card = self.desk.card
        if self.view == QUESTIONS and card is not None and card.mode in agent_card.TYPING:
            return
        self.view = VIEWS[(VIEWS.index(self.view) + by) % len(VIEWS)]
        self._at, self._rows = 0, ()
        self._changed()

    def action_leave(self) -> None:
        """End it."""
        self.exit(agent_card.QUIT)

    def action_scroll(self, by: int) -> None:
        """Move in what is shown."""
        self.query_one("#pane", VerticalScroll).scroll_relative(y=by * 10, animate=False)

    def on_key(self, event: events.Key) -> None:
        """A key: to the card, or to the list."""
        sign = event.character if event.is_printable else None
        if sign is None and event.key in _NAMED:
            sign = event.key
        if sign is None and event.key == "ctrl+u":
            sign = "clear"
        if sign is not None:
            event.stop()
            event.prevent_default()
            self._pressed.put_nowait((self.desk.current, sign))

    def on_paste(self, event: events.Paste) -> None:
        """Text from a clipboard."""
        self.desk.paste(event.text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        if self.view == QUESTIONS and event.option.id:
            self.desk.choose(event.option.id)
        else:
            self._at = event.option_index
            self._changed()

    # What is shown.

    def _changed(self) -> None:
        self._stale.set()

    def on_resize(self) -> None:
        """Lines are broken to the width."""
        self._changed()

    async def _draw(self) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            if self.desk.gone:
                self.exit(LOST)
                return
            self._events = [*self._events, *self.desk.told][-2:]
            self.desk.told = []
            await self._load()
            if not self.query("#top"):
                # The screen was taken down meanwhile.
                return
            self._show()

    async def _load(self) -> None:
        """What the chosen view needs of the agent."""
        try:
            match self.view:
                case "Threads":
                    rows = (await self._line.call(operations.THREADS, every=True)).threads
                case "Notices":
                    rows = (await self._line.call(operations.NOTICES)).notices
                case "Receipts":
                    rows = (await self._line.call(operations.DISCLOSURES)).disclosures
                case _:
                    rows = ()
            self._rows = rows[::-1][:MOST_ROWS]
            self._at = min(self._at, max(len(self._rows) - 1, 0))
            self._detail = await self._chosen()
        except ConnectionError:
            self.exit(LOST)
        except TacitError as fault:
            self._detail = [[("warn", plain(str(fault)))]]

    async def _chosen(self) -> list[Line] | Text:
        if self.view == QUESTIONS or not self._rows:
            return []
        match self._rows[self._at]:
            case ThreadLine() as line:
                found = await self._line.call(operations.THREAD, thread_id=line.thread_id)
                return Text.from_ansi("\n".join(arrange_show.thread(found)))
            case NoticeResult() as notice:
                about = [("dim", f"  {notice.about}")] if notice.about else []
                at = when(notice.at)
                return [[("", f"{notice.thread_id} {notice.text}"), *about], [("dim", at)]]
            case Disclosure() as disclosure:
                return _receipt(disclosure, self._width())

    def _width(self) -> int:
        return max(40, self.query_one("#pane").size.width - 4)

    def _show(self) -> None:
        waiting = len(self.desk.cards)
        tabs: Line = [("title", "tacit "), ("who", name_of(self._me)), ("", "   ")]
        for view in VIEWS:
            count = f" {waiting}" if view == QUESTIONS and waiting else ""
            tabs += [("on" if view == self.view else "off", f" {view}{count} "), ("", " ")]
        self.query_one("#top", Static).update(drawn([tabs]))
        self._show_list()
        self.query_one("#detail", Static).update(self._shown())
        self.query_one("#told", Static).update(drawn(self._events))
        self.query_one("#keys", Static).update(drawn(self._keys()))

    def _show_list(self) -> None:
        chooser = self.query_one("#list", OptionList)
        options, chosen = self._options()
        if [(one.id, str(one.prompt)) for one in chooser.options] != [
            (one.id, str(one.prompt)) for one in options
        ]:
            chooser.clear_options()
            chooser.add_options(options)
        chooser.highlighted = chosen if options else None

    def _options(self) -> tuple[list[Option], int]:
        if self.view == QUESTIONS:
            names = list(self.desk.cards)
            found = [
                Option(_row(self.desk.cards[name], later=name in self.desk.later), id=name) for name in names
            ]
            return found, names.index(self.desk.current) if self.desk.current in names else 0
        return [Option(drawn(_listed(row))) for row in self._rows], self._at

    def _shown(self) -> Text:
        if self.view != QUESTIONS:
            if not self._rows:
                return drawn([[("own", _EMPTY[self.view])]])
            return self._detail if isinstance(self._detail, Text) else drawn(self._detail)
        card = self.desk.card
        if card is None:
            later = len(self.desk.later)
            aside = [[("dim", f"{later} put aside: ↑ ↓ opens it again")]] if later else []
            return drawn([[("own", _EMPTY[QUESTIONS])], *aside])
        return drawn([*_spaced(card_show.shown(card, self._width())), *self.desk.why])

    def _keys(self) -> list[Line]:
        width = max(40, self.size.width - 2)
        card = self.desk.card
        if self.view == QUESTIONS and card is not None:
            moving = [] if card.mode in agent_card.TYPING else [("↑↓", "question"), ("Tab", "view")]
            return key_lines([*card_show.named_keys(card), *moving], width)
        return key_lines([("↑↓", "choose"), ("Tab", "view"), ("PgUp/PgDn", "scroll"), ("q", "quit")], width)


def _spaced(lines: list[Line]) -> list[Line]:
    """A card with room below its title."""
    return [lines[0], [], *lines[1:], []]


def _cut(text: str, width: int = ROW) -> str:
    """A text in one row."""
    return text if terminal.cells(text) <= width else f"{terminal.fitting(text, width - 1)}…"


def _row(card: agent_card.Card, *, later: bool) -> Text:
    """A question in the list: with whom, what kind, and what about."""
    one = card.question
    kinds = {"first_contact": "first contact", "checkpoint": "proposal"}
    kind = kinds.get(one.kind, label(one.kind))
    new = [("own", " ★")] if one.new_contact else []
    aside = [("dim", " (later)")] if later else []
    first: Line = [("who", _cut(name_of(one.counterpart), 16)), ("", f"  {kind}"), *new, *aside]
    return drawn([first, [("dim", _cut(_about(one)))], []])


def _about(one: QuestionResult) -> str:
    if one.proposal:
        return quoted(one.proposal.summary or "")
    names = [label(field.field) for field in one.fields]
    return ", ".join(names) or when(one.asked_at)


def _listed(row: ThreadLine | NoticeResult | Disclosure) -> list[Line]:
    """A row of the list, in the view that it belongs to."""
    match row:
        case ThreadLine():
            return _thread_row(row)
        case NoticeResult():
            return _notice_row(row)
        case Disclosure():
            return _receipt_row(row)


def _thread_row(one: ThreadLine) -> list[Line]:
    over = {"COMPLETED": "chosen", "DECLINED": "warn", "EXPIRED": "warn", "STALLED": "notice"}
    second = [(over.get(one.state, "who"), one.state.lower()), ("dim", f"  {_cut(name_of(one.with_), 18)}")]
    return [[("", _cut(plain(one.summary)) or "-")], second, []]


def _notice_row(one: NoticeResult) -> list[Line]:
    return [[("notice", _cut(one.text))], [("dim", when(one.at))], []]


def _receipt_row(one: Disclosure) -> list[Line]:
    what, to = _cut(label(one.field), 18), _cut(name_of(one.to), 12)
    return [[("", f"{what:<18} "), ("who", to)]]


def _receipt(one: Disclosure, width: int) -> list[Line]:
    value = value_text(one.value) if one.value is not None else "forgotten"
    rows = [
        ("to", who(one.to)),
        ("what", label(one.field)),
        ("value", value),
        ("allowed by", basis_text(one.basis)),
        ("said at", one.via or "-"),
        ("when", when(one.at)),
        ("thread", one.thread_id),
    ]
    lines: list[Line] = []
    for name, text in rows:
        first, *rest = terminal.wrapped(plain(text), max(width - 13, 20))
        lines.append([("dim", f"{name:<12} "), ("", first)])
        lines += [[("", f"{'':<13}{more}")] for more in rest]
    return lines
