"""`tacit agent` alone, at a terminal: what waits, one key an answer (A2ACP-273).

The lines that happened scroll up; the question stands below them and is drawn anew. What decides is in
`agent_desk` and `agent_card`; here are keys, colours and the loop.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Final

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import run_in_terminal
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.styles import Style

from tacit.agent.shell.commands.desk import card as agent_card
from tacit.agent.shell.commands.desk import card_show
from tacit.agent.shell.commands.desk.desk import Desk

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

    from tacit.agent.shell.commands.desk.card_show import Line
    from tacit.agent.shell.commands.desk.line import Line as AgentLine

STYLE: Final = Style.from_dict(
    {
        "title": "bold",
        "who": "ansicyan bold",
        "own": "ansimagenta",
        "quote": "italic",
        "key": "ansigreen bold",
        "dim": "ansibrightblack",
        "warn": "ansired",
        "notice": "ansiyellow",
        "chosen": "ansigreen",
        "cursor": "reverse",
    }
)
_NAMED: Final = {
    Keys.Enter: "enter",
    Keys.ControlJ: "enter",
    Keys.Escape: "escape",
    Keys.Backspace: "backspace",
    Keys.Delete: "delete",
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.Left: "left",
    Keys.Right: "right",
    Keys.Home: "home",
    Keys.End: "end",
    Keys.ControlU: "clear",
}
NOTHING: Final = "Nothing waits for you. New questions come up here."
LOST: Final = "lost"


def formatted(lines: list[Line]) -> FormattedText:
    """Lines as prompt_toolkit takes them: texts as they are, never markup."""
    parts: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        if number:
            parts.append(("", "\n"))
        parts += [(f"class:{style}" if style else "", text) for style, text in line]
    return FormattedText(parts)


class Screen:
    """The question below, what happened above."""

    def __init__(self, line: AgentLine, *, keys: Input | None = None, output: Output | None = None) -> None:
        self.desk = Desk(line, via="terminal", changed=self._changed)
        self._pressed: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self._dirty = asyncio.Event()
        control = FormattedTextControl(self._shown, show_cursor=False)
        self.app: Application[str] = Application(
            layout=Layout(Window(control, wrap_lines=True, dont_extend_height=True)),
            key_bindings=self._bindings(),
            style=STYLE,
            input=keys,
            output=output,
            erase_when_done=True,
            full_screen=False,
        )

    def again(self, line: AgentLine) -> Screen:
        """The same cards and drafts, with another agent behind them."""
        new = Screen(line, keys=self.app.input, output=self.app.output)
        new.desk.inherit(self.desk)
        return new

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        @bindings.add(Keys.Any)
        def _sign(event: KeyPressEvent) -> None:
            for sign in event.data:
                self._pressed.put_nowait((self.desk.current, sign))

        @bindings.add(Keys.BracketedPaste)
        def _paste(event: KeyPressEvent) -> None:
            self.desk.paste(event.data)

        @bindings.add(Keys.ControlC)
        @bindings.add(Keys.ControlD)
        def _leave(event: KeyPressEvent) -> None:
            event.app.exit(result=agent_card.QUIT)

        for key, name in _NAMED.items():
            bindings.add(key, eager=key is Keys.Escape)(functools.partial(self._named, name))
        return bindings

    def _named(self, name: str, _event: KeyPressEvent) -> None:
        self._pressed.put_nowait((self.desk.current, name))

    def _changed(self) -> None:
        self._dirty.set()
        self.app.invalidate()

    def _shown(self) -> FormattedText:
        desk, width = self.desk, max(40, self.app.output.get_size().columns)
        card = desk.card
        if card is None:
            waits = [("dim", f"  ({desk.position})")] if desk.position else []
            return formatted([[("own", NOTHING), *waits], [("dim", "» "), ("key", "q"), ("dim", " quit")]])
        keys = card_show.keys(card, width)
        return formatted([*card_show.shown(card, width, desk.position), *desk.why, *keys])

    async def run(self) -> str:
        """Until the owner leaves (`quit`), or the agent behind it stops (`lost`)."""
        work: list[asyncio.Task[None]] = []

        def begin() -> None:
            # Inside of the application: what is printed above it has to know that it runs.
            for one in (self._work(), self.desk.follow(), self._print()):
                work.append(asyncio.ensure_future(one))
                work[-1].add_done_callback(self._ended)

        try:
            return await self.app.run_async(pre_run=begin)
        finally:
            for one in work:
                one.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            self._flush()

    def _flush(self) -> None:
        """What happened and was not shown yet."""
        told, self.desk.told = self.desk.told, []
        if told:
            self.app.print_text(formatted([*told, []]), style=STYLE)

    def _ended(self, task: asyncio.Task[None]) -> None:
        fault = None if task.cancelled() else task.exception()
        if isinstance(fault, ConnectionError):
            self._end(LOST)
        elif fault is not None and self._running():
            self.app.exit(exception=fault)

    async def _work(self) -> None:
        while await self.desk.press_at(*await self._pressed.get()) != agent_card.QUIT:
            pass
        self._end(agent_card.QUIT)

    def _running(self) -> bool:
        return self.app.is_running and self.app.future is not None and not self.app.future.done()

    def _end(self, result: str) -> None:
        if self._running():
            self.app.exit(result=result)

    async def _print(self) -> None:
        """What happened goes above the question, in its order."""
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            if self.desk.told:
                await run_in_terminal(self._flush)
            if self.desk.gone:
                self._end(LOST)
                return
