"""Precedence: which situation of the matrix holds for an agent.

Rows: C2A-053, C2A-074, C2A-115, C2A-152, C2A-156, C2A-192, C2A-193. One ordered list of predicates; the
first that is true decides. An agent that appears in no set of the event or the state gets what everybody
gets, so one look with `NOBODY` stands for all unexceptional agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.attention.decide.matrix import Situation
from tacit.attention.read.bursts import is_piece
from tacit.c2a.vocabulary import (
    OBLIGES_NOBODY,
    OPEN,
    SOCIAL,
    ConversationKind,
    Directedness,
    Intent,
    Priority,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.read.context import ConversationState
    from tacit.attention.read.continuation import Continuation
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster

    Predicate = Callable[[str, ParsedMessage, ConversationState, Roster], bool]

_TELLING: Final = frozenset({"agree", "declined", "done"})
_TO_ME_BY_INTENT: Final = {
    Intent.SAFETY: Situation.SAFETY,
    Intent.CANCELLATION: Situation.CANCELLATION,
    Intent.HOLD: Situation.HOLD,
    Intent.APPROVAL: Situation.APPROVAL,
    Intent.BLOCKER: Situation.BLOCKER,
    Intent.ASSIGNMENT: Situation.ASSIGNMENT,
    Intent.RESULT: Situation.RESULT,
    Intent.ERROR: Situation.RESULT,
    Intent.INFORM: Situation.INFORMED,
    Intent.RECEIPT: Situation.PROGRESS_TO_ME,
}


_STEERING: Final = frozenset({Intent.CANCELLATION, Intent.HOLD})
"""What an author says about words of their own, without naming again whom those were for."""
_NO_ANSWER: Final = _STEERING | {Intent.THANKS, Intent.STATUS}


def is_named(agent: str, parsed: ParsedMessage) -> bool:
    """Named one by one, by whatever source."""
    return agent in parsed.target.agents


def is_answered(agent: str, parsed: ParsedMessage, state: ConversationState) -> bool:
    """A reply to the agent's own message that names nobody else.

    An agent's reply counts only when it asks for something, lest two agents answer each other for ever. So
    does a person's to the root of a thread with several agents, where some surfaces point every post; unless
    the agent had asked. Any other reply of a person counts.
    """
    if state.replied_to != agent or parsed.target.is_aimed or agent in state.left:
        return False
    if parsed.intent in OPEN or parsed.intent in _TO_ME_BY_INTENT:
        return True
    crowded = state.replied_root and bool(state.participants - {agent})
    return not parsed.by_agent and (not crowded or agent in state.awaiting)


def is_to_me(agent: str, parsed: ParsedMessage, state: ConversationState) -> bool:
    """Aimed at this agent: named, alone with the author, or answered (C2A-049)."""
    return is_named(agent, parsed) or is_answered(agent, parsed, state)


def is_social(agent: str, parsed: ParsedMessage, state: ConversationState) -> bool:
    """Thanks, a receipt or filler; an "ok" to an agent that had asked is an answer instead."""
    if parsed.intent not in SOCIAL:
        return False
    waits = agent in state.awaiting and not parsed.by_agent
    return parsed.intent is Intent.THANKS or not waits


def situation_of(agent: str, parsed: ParsedMessage, state: ConversationState, roster: Roster) -> Situation:
    """The situation of an agent towards an event, with the sender's declared directedness applied."""
    barred = _barred(agent, parsed, state)
    if barred is not None:
        return barred
    if parsed.kind == "system.notify":
        return _notice(agent, parsed, state)
    if parsed.kind == "chat.reaction":
        return _reaction(agent, parsed, state)
    if parsed.supersedes is not None and agent in state.responded:
        return Situation.EDITED
    weakest = parsed.declared
    if weakest in {None, Directedness.TO_ME} and is_to_me(agent, parsed, state):
        return _aimed(agent, parsed, state)
    if agent in state.left:
        return Situation.LEFT
    steers = parsed.intent in _STEERING and not parsed.target.is_aimed
    if steers and (agent in state.asked or agent == state.answers):
        return _TO_ME_BY_INTENT[parsed.intent]
    if weakest in {None, Directedness.TO_ME} and (
        found := _answered(agent, parsed, state)
        or _added(agent, parsed, state)
        or _alone(agent, parsed, state)
        or _continued(agent, parsed, state)
    ):
        return found
    if weakest in {None, Directedness.TO_ME, Directedness.TO_MY_ROLE} and (
        found := _shared(agent, parsed, state)
    ):
        return Situation.WORKER_REPLY if _is_chatter(found, agent, parsed, state, roster) else found
    if weakest is not Directedness.AMBIENT and (parsed.target.is_aimed or is_named(agent, parsed)):
        return Situation.TO_OTHER
    return _unaimed(agent, parsed, state)


def _barred(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation | None:
    """What no content can change."""
    if agent == parsed.by:
        return Situation.OWN
    if parsed.private is not None and agent not in parsed.private:
        return Situation.UNREADABLE
    if parsed.by_agent and agent in state.stopped and parsed.by in state.stopped:
        return Situation.LOOP_STOPPED
    return None


def _notice(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation:
    if not is_named(agent, parsed):
        if parsed.target.is_aimed:
            return Situation.TO_OTHER
        return Situation.STATUS_DIGEST if agent in state.subscribers else Situation.STATUS
    if parsed.intent is Intent.SAFETY:
        return Situation.SAFETY
    pressing = parsed.requires_ack or parsed.priority is Priority.URGENT
    return Situation.NOTICE_PRESSING if pressing else Situation.NOTICE


def _reaction(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation:
    if agent not in parsed.target.agents:
        return Situation.STATUS
    if parsed.signal is None:
        return Situation.STATUS
    if agent in state.waits:
        return Situation.SIGNAL_SETTLES
    return Situation.SIGNAL if parsed.signal in _TELLING else Situation.SIGNAL_PLAIN


def _aimed(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation:
    """What an event aimed at the agent asks of it.

    Rows: C2A-066, C2A-067, C2A-068, C2A-069, C2A-070.
    """
    intent = parsed.intent
    dm = parsed.conversation.kind is ConversationKind.DM
    if intent is Intent.WITHDRAWAL:
        return Situation.WITHDRAWN
    if intent is Intent.LEAVE_REQUEST and not dm:
        return Situation.LEAVE
    if is_social(agent, parsed, state):
        return Situation.GRATITUDE
    if intent is Intent.GREETING:
        return Situation.GRATITUDE if parsed.by_agent else Situation.GREETED
    if parsed.receipt_wanted:
        return Situation.RECEIPT_WANTED
    if intent in _TO_ME_BY_INTENT:
        return _TO_ME_BY_INTENT[intent]
    if intent is Intent.STATUS and parsed.intent_from == "clowl":
        return Situation.PROGRESS_TO_ME
    if dm:
        return Situation.DIRECT_MESSAGE
    return Situation.DIRECT_MENTION if is_named(agent, parsed) else Situation.THREAD_QUESTION


def _answered(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation | None:
    """The next line of a person whom an agent has asked is the answer, also when it is just "ok".

    Thanks are none; who steers or reports does that.
    """
    if state.answers is None or parsed.target.is_aimed or parsed.asks_room or parsed.intent in _NO_ANSWER:
        return None
    if parsed.nearly and state.answers not in parsed.nearly:
        return None
    if state.answers == agent:
        return Situation.ANSWER
    # It is nobody else's; in a thread those who take part hear of it as of the rest.
    return None if agent in state.participants or agent in state.owners else Situation.TO_OTHER


def _added(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation | None:
    """More of what its author has just said to somebody: they get it, and in the open flow nobody else.

    After a call that asked for nothing the line itself may be what its author wants. Thanks end a talk: only
    what asks goes on after them.
    """
    if not state.adding or not is_piece(parsed):
        return None
    asks = parsed.intent in OPEN
    if state.adding_to is Intent.THANKS and not asks:
        return None
    if agent not in state.adding:
        return None if parsed.conversation.thread else Situation.TO_OTHER
    if parsed.intent in _STEERING:
        return _TO_ME_BY_INTENT[parsed.intent]
    if state.adding_to is Intent.GREETING or (state.adding_to is not None and asks):
        return _TO_ME_BY_INTENT.get(parsed.intent, Situation.CALLED_BEFORE)
    return Situation.ADDED


def _alone(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation | None:
    """What a person says who is alone with the agent is said to it, as if it were named (C2A-077).

    A remark that surely goes on with their dialogue obliges nobody, as in any room. Being sent away takes a
    name.
    """
    if agent != parsed.only_agent or parsed.intent in OBLIGES_NOBODY:
        return None
    follows = goes_on(agent, parsed)
    if follows is not None and follows.sure and parsed.intent not in _STEERING:
        return None
    found = Situation.ALONE if parsed.intent is Intent.LEAVE_REQUEST else _aimed(agent, parsed, state)
    return Situation.ALONE if found is Situation.THREAD_QUESTION else found


def goes_on(agent: str, parsed: ParsedMessage) -> Continuation | None:
    """How the event stands to the agent's dialogue with its author, if it is worth a knock."""
    for one in parsed.follows:
        if one.who == agent:
            return one
    return None


def _continued(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation | None:
    """A line without a name that goes on with a dialogue: its partner gets it, and nobody else does.

    Being sent away takes a name. What was asked can be taken back or put off without one as long as it is
    owed, which `asked`, `answers` and `adding` say; later "never mind" and "wait" are remarks.
    """
    if not parsed.follows or parsed.intent is Intent.STATUS or parsed.intent in _STEERING:
        return None
    follows = goes_on(agent, parsed)
    if follows is None:
        return Situation.TO_OTHER if parsed.nearly or parsed.follows[0].sure else None
    if is_social(agent, parsed, state):
        return Situation.GRATITUDE
    if not follows.sure and parsed.intent in OPEN:
        # A question is offered to one: whom it likeliest is for has it first.
        return Situation.LIKELY_ASKED if parsed.follows[0] is follows else None
    if not follows.sure:
        return Situation.LIKELY_CONTINUED
    return Situation.CONTINUED_QUESTION if parsed.intent in OPEN else Situation.CONTINUED


def _shared(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation | None:
    """What reaches the agent through a role, a broadcast, or a thread or stream of its own."""
    target = parsed.target
    called = target.everyone or agent in target.members or is_named(agent, parsed)
    if parsed.attention and (called or not target.is_aimed):
        return Situation.ATTENTION_REQUEST if parsed.intent in OPEN else Situation.ATTENTION
    if called:
        # A greeting to all wants no answer from anybody in particular.
        return Situation.GRATITUDE if parsed.intent in OBLIGES_NOBODY else Situation.ROLE_MENTION
    if target.is_aimed:
        return None
    if agent in state.participants or agent in state.owners:
        if parsed.intent in SOCIAL:
            return Situation.GRATITUDE
        # Only a declared report is one here: a guess must not hide a post of a thread from those in it.
        if parsed.intent is Intent.STATUS and parsed.intent_from != "text" and agent not in state.owners:
            return Situation.STATUS_DIGEST if agent in state.subscribers else Situation.STATUS
        return Situation.THREAD_REPLY
    return None


def _is_chatter(
    found: Situation, agent: str, parsed: ParsedMessage, state: ConversationState, roster: Roster
) -> bool:
    """Workers talk in a thread of the lead's: it hears of that when somebody means it, or looks (C2A-156)."""
    led = agent in roster.leads and agent in state.owners
    return found is Situation.THREAD_REPLY and parsed.by_agent and led


def _unaimed(agent: str, parsed: ParsedMessage, state: ConversationState) -> Situation:
    """What is said to the room.

    Rows: C2A-074, C2A-075, C2A-076, C2A-077.
    """
    if parsed.intent is Intent.STATUS:
        return Situation.STATUS_DIGEST if agent in state.subscribers else Situation.STATUS
    if parsed.intent in OPEN:
        return Situation.OPEN_REQUEST
    if parsed.by_agent and parsed.declared is not Directedness.AMBIENT and not parsed.has_task:
        return Situation.NO_TASK
    return Situation.AMBIENT
