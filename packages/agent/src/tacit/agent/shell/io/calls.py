"""Who carries out what a personal agent can be asked (`tacit.base.agent_operations`).

The terminal, the socket, the page and a hub ask for the same things, with the same values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import structs

from tacit.agent.brain.io import choosing
from tacit.agent.features import FEATURES
from tacit.agent.kernel.answer import Answer
from tacit.agent.kernel.feature import Handler
from tacit.agent.shell.io import programs
from tacit.base import agent_requests as asked
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tacit.agent.shell.io.commands import Commands

Request = TypeVar("Request")


def _on(shape: type[Request], run: Callable[[Commands, Request], Awaitable[Any]]) -> Handler[Commands]:
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


HANDLERS: Final[dict[str, Handler[Commands]]] = {
    "ask": _on(asked.AgentAskHere, _ask),
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
    "page": _on(asked.AgentNothing, lambda agent, _request: agent.page_address()),
    "page_link": _on(asked.AgentPageLink, lambda agent, request: agent.page_link(request.question_id)),
    **{name: carried_out for feature in FEATURES for name, carried_out in feature.operations.items()},
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
