"""The agent's commands by name, with arguments and answers as plain values: what its socket carries.

A table, so that the terminal, the socket and whatever stands there one day ask for the same things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.agent.engine.answering import Answer
from tacit.agent.io import (
    choosing,
    finding,
    grouping,
    guests,
    hinting,
    nudging,
    people,
    programs,
    setting_up,
    space_links,
)
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.agent.io.commands import Commands

Arguments = dict[str, Any]
LONGEST_VIA: Final = 200


def _answer(agent: Commands, given: Arguments) -> Awaitable[Any]:
    counter = given.get("counter")
    said = Answer(
        share=dict(given.get("share") or {}),
        decline=frozenset(given.get("decline") or ()),
        decline_all=bool(given.get("decline_all")),
        confirm=bool(given.get("confirm")),
        alternative=given.get("alternative"),
        ticks=frozenset(given.get("ticks") or ()),
        counter=(str(counter[0]), str(counter[1])) if counter else None,
        refuse=bool(given.get("refuse")),
        excuse=str(given.get("excuse") or ""),
        choose=given.get("choose"),
        dismiss=bool(given.get("dismiss")),
        via=str(given.get("via") or "")[:LONGEST_VIA],
    )
    return agent.answer(str(given["question_id"]), said)


CALLS: Final[dict[str, Callable[[Commands, Arguments], Awaitable[Any]]]] = {
    "ask": lambda agent, given: agent.ask(
        given["text"],
        given.get("to") or (),
        urgent=bool(given.get("urgent")),
        facts=given.get("facts"),
        by_program=bool(given.get("by_program")),
        **grouping.options_of(given),
    ),
    "group": lambda agent, given: agent.group(str(given["thread_id"])),
    "transfer": lambda agent, given: agent.transfer(
        str(given["thread_id"]), str(given["to"]), str(given.get("reason") or "")
    ),
    "program": lambda agent, given: programs.call(agent, str(given["tool"]), dict(given["arguments"])),
    "facts": lambda agent, given: agent.facts(given.get("facts")),
    "pending": lambda agent, _given: agent.pending(),
    "answer": _answer,
    "threads": lambda agent, given: agent.threads(every=bool(given.get("every"))),
    "thread": lambda agent, given: agent.thread(given["thread_id"]),
    "disclosures": lambda agent, given: agent.disclosures(given.get("peer") or ""),
    "why": lambda agent, given: agent.why(given["thread_id"]),
    "stop": lambda agent, given: agent.stop(given["thread_id"]),
    "resume": lambda agent, given: agent.resume(given["thread_id"]),
    "change": lambda agent, given: agent.change(
        given["thread_id"], given["text"], given.get("scope_change") or "changed"
    ),
    "fork": lambda agent, given: agent.fork(given["thread_id"], given["texts"]),
    "brain": lambda agent, given: choosing.brain(agent, given.get("setting")),
    "thoughts": lambda agent, given: agent.thoughts(given.get("thread_id") or ""),
    "tick": lambda agent, given: agent.tick(news=bool(given.get("news"))),
    "notices": lambda agent, _given: agent.notices(),
    "profile": lambda agent, given: agent.profile(given.get("changes") or {}),
    "permissions": lambda agent, given: agent.permissions(
        given.get("field") or "",
        given.get("level") or "",
        counterpart=given.get("counterpart") or "",
        confirmed=bool(given.get("confirmed")),
    ),
    "choose": lambda agent, given: agent.choose(given.get("name") or "", given.get("value") or ""),
    "calendars": lambda agent, _given: agent.calendars(),
    "add_calendar": lambda agent, given: agent.add_calendar(given["name"], given["definition"]),
    "remove_calendar": lambda agent, given: agent.remove_calendar(given["name"]),
    "add_handler": lambda agent, given: agent.add_handler(given["name"], given["definition"]),
    "me": lambda agent, _given: people.me(agent),
    "contacts": lambda agent, _given: people.contacts(agent),
    "contact": lambda agent, given: people.contact(agent, given["who"], given.get("decision") or people.SHOW),
    "nudge": lambda agent, given: nudging.command(agent, given.get("do") or "list", given.get("value") or ""),
    "add": lambda agent, given: finding.add(agent, str(given["uri"])),
    "match": lambda agent, given: finding.match_text(agent, str(given["text"])),
    "find": lambda agent, given: finding.find(
        agent, str(given["account"]), private=bool(given.get("private"))
    ),
    **guests.CALLS,
    "setup": setting_up.setup,
    "hints": lambda agent, given: (
        hinting.seen(agent, str(given["seen"])) if given.get("seen") else hinting.due(agent)
    ),
    "seen": lambda agent, given: hinting.seen(agent, str(given["hint"])),
    "memory": lambda agent, given: agent.memory(str(given.get("who") or "")),
    "memory_edit": lambda agent, given: agent.memory_edit(
        str(given["who"]), str(given["key"]), given.get("value")
    ),
    "memory_forget": lambda agent, given: agent.memory_forget(str(given["who"]), str(given.get("key") or "")),
    "known": lambda agent, given: agent.known(str(given["who"])),
    "forget": lambda agent, given: agent.forget(given["peer"]),
    "space": lambda agent, given: agent.space(**given),
    "space_open": lambda agent, given: space_links.opened(agent, given["space_id"], str(given["field"])),
    "space_tool": lambda agent, given: space_links.add_tool(
        agent, str(given["name"]), dict(given["definition"])
    ),
    "page": lambda agent, _given: agent.page_address(),
    "page_link": lambda agent, given: agent.page_link(given.get("question_id") or ""),
}


async def call(agent: Commands, name: str, given: Arguments) -> Any:
    """Carry out one command."""
    found = CALLS.get(name)
    if found is None:
        raise Refused("unknown_command", "the agent has no such command")
    try:
        return await found(agent, given)
    except KeyError as missing:
        raise Refused("bad_command", f"the command lacks {missing.args[0]}") from None
