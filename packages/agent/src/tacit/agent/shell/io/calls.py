"""Who carries out what a personal agent can be asked (`tacit.base.agent_operations`).

The terminal, the socket, the page and a hub ask for the same things, with the same values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec import structs

from tacit.agent.brain.io import choosing
from tacit.agent.contacts.io import finding, people
from tacit.agent.guests.io import operations as guests
from tacit.agent.kernel.answer import Answer
from tacit.agent.owner.io import hinting, nudging, setting_up
from tacit.agent.shell.io import programs
from tacit.agent.spaces.io import links as space_links
from tacit.agent.spaces.io import operations as spaces
from tacit.base import agent_requests as asked
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.errors import Refused
from tacit.wire.guests import LONGEST_DAYS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tacit.agent.shell.io.commands import Commands

Request = TypeVar("Request")


class Handler(NamedTuple):
    """Who carries an operation out, and the shape that it reads."""

    shape: Any
    run: Callable[[Commands, Any], Awaitable[Any]]


def _on(shape: type[Request], run: Callable[[Commands, Request], Awaitable[Any]]) -> Handler:
    return Handler(shape, run)


def _answer(agent: Commands, request: asked.AgentAnswerHere) -> Awaitable[Any]:
    said = Answer(
        share=request.share,
        decline=frozenset(request.decline),
        decline_all=request.decline_all,
        confirm=request.confirm,
        alternative=request.alternative,
        ticks=frozenset(request.ticks),
        counter=(request.counter[0], request.counter[1]) if request.counter else None,
        refuse=request.refuse,
        excuse=request.excuse,
        choose=request.choose,
        dismiss=request.dismiss,
        via=request.via,
    )
    return agent.answer(request.question_id, said)


def _ask(agent: Commands, request: asked.AgentAskHere) -> Awaitable[Any]:
    return agent.ask(
        request.text,
        request.to,
        urgent=request.urgent,
        facts=request.facts,
        by_program=request.by_program,
        quorum=request.quorum,
        in_order=request.in_order,
        after=request.after,
    )


def _permissions(agent: Commands, request: asked.AgentPermissions) -> Awaitable[Any]:
    return agent.permissions(
        request.field, request.level, counterpart=request.counterpart, confirmed=request.confirmed
    )


def _guest_ask(agent: Commands, request: asked.AgentGuestAsk) -> Awaitable[Any]:
    return guests.ask(
        agent,
        request.name,
        request.text,
        questions=request.questions,
        share=request.share,
        signed=request.signed,
        days=request.days or LONGEST_DAYS,
        group=request.group,
    )


HANDLERS: Final[dict[str, Handler]] = {
    "ask": _on(asked.AgentAskHere, _ask),
    "group": _on(asked.AgentThread, lambda agent, request: agent.group(request.thread_id)),
    "transfer": _on(
        asked.AgentTransfer,
        lambda agent, request: agent.transfer(request.thread_id, request.to, request.reason),
    ),
    "program": _on(
        asked.AgentProgram, lambda agent, request: programs.call(agent, request.tool, request.arguments)
    ),
    "facts": _on(asked.AgentFacts, lambda agent, request: agent.facts(request.facts)),
    "pending": _on(asked.AgentNothing, lambda agent, _request: agent.pending()),
    "answer": _on(asked.AgentAnswerHere, _answer),
    "threads": _on(asked.AgentThreads, lambda agent, request: agent.threads(every=request.every)),
    "thread": _on(asked.AgentThread, lambda agent, request: agent.thread(request.thread_id)),
    "disclosures": _on(asked.AgentDisclosures, lambda agent, request: agent.disclosures(request.peer)),
    "why": _on(asked.AgentThread, lambda agent, request: agent.why(request.thread_id)),
    "stop": _on(asked.AgentThread, lambda agent, request: agent.stop(request.thread_id)),
    "resume": _on(asked.AgentThread, lambda agent, request: agent.resume(request.thread_id)),
    "change": _on(
        asked.AgentChange,
        lambda agent, request: agent.change(request.thread_id, request.text, request.scope_change),
    ),
    "fork": _on(asked.AgentFork, lambda agent, request: agent.fork(request.thread_id, request.texts)),
    "brain": _on(asked.AgentBrain, lambda agent, request: choosing.brain(agent, request.setting)),
    "thoughts": _on(asked.AgentThoughts, lambda agent, request: agent.thoughts(request.thread_id)),
    "tick": _on(asked.AgentTick, lambda agent, request: agent.tick(news=request.news)),
    "notices": _on(asked.AgentNothing, lambda agent, _request: agent.notices()),
    "profile": _on(asked.AgentProfile, lambda agent, request: agent.profile(request.changes)),
    "permissions": _on(asked.AgentPermissions, _permissions),
    "choose": _on(asked.AgentChoose, lambda agent, request: agent.choose(request.name, request.value)),
    "calendars": _on(asked.AgentNothing, lambda agent, _request: agent.calendars()),
    "add_calendar": _on(
        asked.AgentDefined, lambda agent, request: agent.add_calendar(request.name, request.definition)
    ),
    "remove_calendar": _on(asked.AgentNamed, lambda agent, request: agent.remove_calendar(request.name)),
    "add_handler": _on(
        asked.AgentDefined, lambda agent, request: agent.add_handler(request.name, request.definition)
    ),
    "me": _on(asked.AgentNothing, lambda agent, _request: people.me(agent)),
    "contacts": _on(asked.AgentNothing, lambda agent, _request: people.contacts(agent)),
    "contact": _on(
        asked.AgentContact, lambda agent, request: people.contact(agent, request.who, request.decision)
    ),
    "nudge": _on(asked.AgentNudge, lambda agent, request: nudging.command(agent, request.do, request.value)),
    "add": _on(asked.AgentAdd, lambda agent, request: finding.add(agent, request.uri)),
    "match": _on(asked.AgentMatch, lambda agent, request: finding.match_text(agent, request.text)),
    "find": _on(
        asked.AgentFindHere,
        lambda agent, request: finding.find(agent, request.account, private=request.private),
    ),
    "guest_ask": _on(asked.AgentGuestAsk, _guest_ask),
    "guests": _on(asked.AgentNothing, lambda agent, _request: guests.listed(agent)),
    "guest": _on(asked.AgentGuest, lambda agent, request: guests.show(agent, request.guest_id)),
    "guest_revoke": _on(asked.AgentGuest, lambda agent, request: guests.revoke(agent, request.guest_id)),
    "guest_forget": _on(asked.AgentGuest, lambda agent, request: guests.forget(agent, request.guest_id)),
    "guest_paste": _on(asked.AgentGuestPaste, guests.paste),
    "guest_result": _on(asked.AgentGuest, lambda agent, request: guests.result(agent, request.guest_id)),
    "guest_mail": _on(
        asked.AgentGuestMail,
        lambda agent, request: guests.mail(agent, request.guest_id, request.to, request.fingerprint),
    ),
    "guest_mail_server": _on(
        asked.AgentMailServer, lambda agent, request: guests.mail_server(agent, request.url)
    ),
    "setup": _on(asked.AgentSetup, setting_up.setup),
    "hints": _on(
        asked.AgentHints,
        lambda agent, request: hinting.seen(agent, request.seen) if request.seen else hinting.due(agent),
    ),
    "seen": _on(asked.AgentSeen, lambda agent, request: hinting.seen(agent, request.hint)),
    "memory": _on(asked.AgentMemory, lambda agent, request: agent.memory(request.who)),
    "memory_edit": _on(
        asked.AgentMemoryEdit,
        lambda agent, request: agent.memory_edit(request.who, request.key, request.value),
    ),
    "memory_forget": _on(
        asked.AgentMemoryForget, lambda agent, request: agent.memory_forget(request.who, request.key)
    ),
    "known": _on(asked.AgentKnown, lambda agent, request: agent.known(request.who)),
    "forget": _on(asked.AgentPeer, lambda agent, request: agent.forget(request.peer)),
    "space": Handler(asked.AgentSpace, spaces.carried_out),
    "space_open": _on(
        asked.AgentSpaceOpen,
        lambda agent, request: space_links.opened(agent, request.space_id, request.field),
    ),
    "space_tool": _on(
        asked.AgentDefined,
        lambda agent, request: space_links.add_tool(agent, request.name, request.definition),
    ),
    "page": _on(asked.AgentNothing, lambda agent, _request: agent.page_address()),
    "page_link": _on(asked.AgentPageLink, lambda agent, request: agent.page_link(request.question_id)),
}


async def call(agent: Commands, command: str, given: Mapping[str, Any]) -> Any:
    """Carry out one operation."""
    operation = AGENT_OPERATIONS.get(command)
    if operation is None:
        raise Refused("unknown_command", "the agent has no such command")
    return await HANDLERS[command].run(agent, operation.request(given, here=True))


async def call_from_page(agent: Commands, command: str, given: Mapping[str, Any]) -> Any:
    """Carry out an operation for the agent's own page, as far as the page may ask for it."""
    operation = AGENT_OPERATIONS.get(command)
    if operation is None or not operation.page:
        raise Refused("unknown_command", "the page may not ask for this")
    request = operation.request(given, here=False)
    if isinstance(request, asked.AgentAnswerHere):
        request = structs.replace(request, via="page")
    return await HANDLERS[command].run(agent, request)
