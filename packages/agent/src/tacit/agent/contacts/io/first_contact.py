"""Somebody unknown has written: only the owner can let them in (A2ACP-032)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import packet
from tacit.agent.consent import answering
from tacit.agent.kernel import records
from tacit.agent.kernel.state import Question
from tacit.agent.memory.io import forgetting
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.answer import Answer
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.workspace import Workspace

KIND: Final = "first_contact"


async def turn(agent: AgentCore) -> bool:
    """Ask the owner about everybody who waits to be let in; whether there was anybody."""
    rows = agent.post.store.rows(
        "SELECT peer, min(thread_id) FROM history"
        " WHERE state IN ('held', 'asked') AND state='asked' GROUP BY peer"
    )
    did = False
    questions = agent.journal.book.questions
    for peer, thread_id in rows:
        if not any(
            question.kind == KIND and question.peer == peer and question.is_open
            for question in map(questions.__getitem__, list(questions))
        ):
            await agent.decide(lambda ws, peer=peer, thread_id=thread_id: _ask(ws, peer, thread_id))
            did = True
    return did


def _ask(ws: Workspace, peer: str, thread_id: str) -> None:
    question_id = packet.identifier("qst_", ws.draw(17))
    content = ws.keep(peer, {"from": peer, "choices": ["confirm", "refuse"]})
    ws.say(records.Asked(Question(question_id, KIND, thread_id, peer, ws.now, content)))


async def answer(agent: AgentCore, question: Question, said: Answer) -> Fields:
    """Let somebody in, or block them and forget what they wrote."""
    if not (said.confirm or said.refuse):
        raise Refused("bad_answer", "this question is answered with --confirm or --refuse", row="A2ACP-032")
    choice = "confirm" if said.confirm else "refuse"

    def answered(ws: Workspace) -> None:
        # Looked at again: another face may have been first.
        answering.open_question(ws, question.question_id)
        ws.say(records.Answered(question.question_id, choice, via=said.via))

    await agent.decide(answered)
    if said.confirm:
        agent.post.inbox.welcome(question.peer)
    else:
        agent.post.inbox.block(question.peer)
        await forgetting.forget(agent, question.peer)
    await agent.refresh()
    thread = agent.journal.book.threads.get(question.thread_id)
    return {"thread_id": question.thread_id, "state": thread.state.value if thread else None}
