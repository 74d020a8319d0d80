"""The help of `tacit agent`: its many commands by what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.commands.lazy import Lazy

if TYPE_CHECKING:
    import click

SECTIONS: Final[dict[str, dict[str, str]]] = {
    "Arrange something": {
        "ask": "Have something arranged, in a sentence.",
        "guest": "Ask somebody who has no agent, by a link.",
        "inbox": "What waits for you, on a whole screen.",
        "pending": "What waits for your answer.",
        "answer": "Answer one of these questions.",
        "threads": "What is being arranged.",
        "thread": "Everything about one of them.",
        "change": "Make something else of it.",
        "fork": "Make several of one.",
        "group": "Of one with several people: who, and which times suit how many.",
        "transfer": "Have another agent coordinate a group.",
        "stop": "Want no more of it.",
        "resume": "Go on with one that stands still.",
        "space": "A place that several agents keep together.",
    },
    "Understand it": {
        "demo": "Watch agents arrange a dinner, or a game night for four.",
        "memory": "What it remembers of your contacts.",
        "known": "What a contact knows of you, and what can be called off.",
        "disclosures": "Who got what of you, when, and what allowed it.",
        "why": "What stood against each option.",
        "notices": "What your agent has told you.",
        "thoughts": "What models were asked, and what it took.",
    },
    "Let it run": {
        "run": "Hold the line to the relay until stopped.",
        "tick": "Fetch, answer and send once.",
        "page": "A link to its own page in your browser.",
        "join": "Be in a room of a hub, at your word alone.",
        "nudge": "Be told elsewhere that a decision waits.",
        "mcp": "Your agent for a program that speaks MCP.",
    },
    "Tell it of yourself": {
        "setup": "The first minute: name, place, five switches.",
        "profile": "What it knows of you.",
        "permissions": "What it may share: always, ask, never.",
        "autonomy": "How much it does unasked.",
        "brain": "Which models think for it, and what they may cost.",
        "calendar": "Calendars that say when you are free.",
        "facts": "When you are free, as another program knows it.",
        "action": "What it does once everybody has confirmed.",
    },
    "Keys and contacts": {
        "register": "Make keys and register at a relay.",
        "keys": "Your address and fingerprint.",
        "protect": "How the keys are kept on this device.",
        "contact": "Add, verify or block a contact.",
        "setting": "What happens with mail of strangers.",
        "clock": "Whether this machine's clock is believed.",
    },
    "Find people": {
        "me": "Your address and fingerprint as a QR code.",
        "add": "Add somebody by the text of their code.",
        "find": "By e-mail address or handle, or in an address book.",
    },
    "Plain post": {
        "send": "Send one sealed packet.",
        "listen": "Print packets as they arrive.",
        "schema": "The JSON Schema of a type of packet.",
    },
    "Devices and repair": {
        "take-over": "Speak from this device again.",
        "repairs": "Packets that could not be opened at first.",
        "backup": "Write an encrypted backup.",
        "restore": "Become the agent of a backup.",
    },
}
"""The commands as one looks for them, each in one section, in the words of a list."""


class Sections(Lazy):
    """A group whose help shows its commands by what they are for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the base class names it
        """In the order of the sections."""
        return [name for section in SECTIONS.values() for name in section if name in self.places]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each section with its commands."""
        widest = max(map(len, self.list_commands(ctx)))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), what) for name, what in section.items() if name in self.places]
                )


EPILOG: Final = """\b
A first dinner:
  tacit agent demo                                     watch how it goes, with nobody involved
  tacit agent register me@relay.example                keys and an address of your own
  tacit agent contact ben@relay.example add            whom it may deal with
  tacit agent setup                                    what it should know of you
  tacit agent calendar add mine ics ~/calendar.ics     when you have time
  tacit agent run                                      (in a terminal of its own)
  tacit agent ask "dinner with ben on Friday evening"
  tacit agent                                          what it asks you, one key an answer
"""
