"""The default matrix as one table: each situation of an agent towards an event is one entry.

Rows: C2A-066, C2A-067, C2A-068, C2A-069, C2A-070, C2A-071, C2A-072, C2A-073, C2A-074, C2A-075, C2A-076,
C2A-077, C2A-078. Directedness sets the mode, intent sets the policy; an entry says both, with its row and an
example. Which situation holds is for `situation`; what an entry becomes for a pressing or limited case is
for `decide` and `modes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tacit.c2a.vocabulary import Directedness, Mode, Policy, Reason


class Situation(StrEnum):
    """How one agent stands to one event."""

    NOT_CHAT = "not_chat"
    OWN = "own"
    UNREADABLE = "unreadable"
    LOOP_STOPPED = "loop_stopped"
    NOTICE_PRESSING = "notice_pressing"
    NOTICE = "notice"
    SIGNAL_SETTLES = "signal_settles"
    SIGNAL = "signal"
    SIGNAL_PLAIN = "signal_plain"
    EDITED = "edited"
    WITHDRAWN = "withdrawn"
    LEAVE = "leave"
    GRATITUDE = "gratitude"
    GREETED = "greeted"
    SAFETY = "safety"
    CANCELLATION = "cancellation"
    HOLD = "hold"
    APPROVAL = "approval"
    BLOCKER = "blocker"
    ASSIGNMENT = "assignment"
    RESULT = "result"
    INFORMED = "informed"
    PROGRESS_TO_ME = "progress_to_me"
    DIRECT_MESSAGE = "direct_message"
    DIRECT_MENTION = "direct_mention"
    THREAD_QUESTION = "thread_question"
    ANSWER = "answer"
    CONTINUED_QUESTION = "continued_question"
    CONTINUED = "continued"
    LIKELY_ASKED = "likely_asked"
    LIKELY_CONTINUED = "likely_continued"
    ADDED = "added"
    ALONE = "alone"
    CALLED_BEFORE = "called_before"
    LEFT = "left"
    ATTENTION_REQUEST = "attention_request"
    ATTENTION = "attention"
    RECEIPT_WANTED = "receipt_wanted"
    ROLE_MENTION = "role_mention"
    THREAD_REPLY = "thread_reply"
    WORKER_REPLY = "worker_reply"
    TO_OTHER = "to_other"
    STATUS_DIGEST = "status_digest"
    STATUS = "status"
    OPEN_REQUEST = "open_request"
    NO_TASK = "no_task"
    AMBIENT = "ambient"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One row of the matrix."""

    row: str
    says: str
    directedness: Directedness
    policy: Policy
    mode: Mode
    reason: Reason
    example: str = ""
    needs_claim: bool = False
    thread_window: bool = False
    rises: bool = False
    """High priority makes it immediate (C2A-069)."""


_ME, _ROLE, _OTHER, _NONE = (
    Directedness.TO_ME,
    Directedness.TO_MY_ROLE,
    Directedness.TO_OTHER,
    Directedness.AMBIENT,
)
_MUST, _MAY, _ACK, _NOT = Policy.MUST_RESPOND, Policy.MAY_RESPOND, Policy.ACK_ONLY, Policy.MUST_NOT_RESPOND
_NOW, _SOON, _KNOCK, _BOX, _ROLLUP, _SILENT = (
    Mode.IMMEDIATE,
    Mode.BUFFERED,
    Mode.NOTIFY,
    Mode.TOOL_MAILBOX,
    Mode.DIGEST,
    Mode.SILENT,
)

MATRIX: Final[dict[Situation, MatrixRow]] = {
    Situation.NOT_CHAT: MatrixRow(
        "C2A-094", "it is a record, not something said", _NONE, _NOT, _SILENT, Reason.AMBIENT,
    ),
    Situation.OWN: MatrixRow(
        "C2A-195", "the agent wrote it itself", _OTHER, _NOT, _SILENT, Reason.TO_OTHER, "(its own words)",
    ),
    Situation.UNREADABLE: MatrixRow(
        "C2A-051", "the agent may not read that conversation", _OTHER, _NOT, _SILENT, Reason.TO_OTHER,
    ),
    Situation.LOOP_STOPPED: MatrixRow(
        "C2A-198", "the exchange between these agents went in circles and was ended", _OTHER, _NOT, _BOX,
        Reason.LOOP_STOPPED, "(the seventh message of two agents who only agree with each other)",
    ),
    Situation.NOTICE_PRESSING: MatrixRow(
        "C2A-078", "it is a notice to the agent that is urgent or must be confirmed", _ME, _MUST, _NOW,
        Reason.DIRECT_MESSAGE, "notice to lead, urgent: disk almost full",
    ),
    Situation.NOTICE: MatrixRow(
        "C2A-078", "it is a notice to the agent; a receipt is enough", _ME, _ACK, _KNOCK,
        Reason.DIRECT_MESSAGE, "notice to lead: your token expires in a week",
    ),
    Situation.SIGNAL_SETTLES: MatrixRow(
        "C2A-138", "the reaction settles something that the agent waits for", _ME, _NOT, _SOON,
        Reason.REACTION, "(declined, on the approval that lead asked for)",
    ),
    Situation.SIGNAL: MatrixRow(
        "C2A-137", "it is a signal on the agent's own message", _ME, _NOT, _KNOCK, Reason.REACTION,
        "(agree, on lead's plan)",
    ),
    Situation.SIGNAL_PLAIN: MatrixRow(
        "C2A-138", "it is a reaction that asks for nothing", _ME, _NOT, _BOX, Reason.REACTION,
        "(seen, on lead's plan)",
    ),
    Situation.EDITED: MatrixRow(
        "C2A-186", "a message that the agent had answered was edited", _ME, _MAY, _KNOCK,
        Reason.EDITED_AFTER_RESPONSE, "(the question, after lead answered it, now names another branch)",
    ),
    Situation.WITHDRAWN: MatrixRow(
        "C2A-081", "it takes back what was asked of the agent", _ME, _NOT, _NOW, Reason.CANCELLATION,
        "CNCL task-7",
    ),
    Situation.LEAVE: MatrixRow(
        "C2A-190", "it asks the agent to leave; one brief goodbye is allowed", _ME, _MUST, _SOON,
        Reason.LEAVE_REQUEST, "@lead please leave this thread",
    ),
    Situation.GRATITUDE: MatrixRow(
        "C2A-067", "it is thanks, a receipt or small talk", _ME, _NOT, _SILENT, Reason.GRATITUDE,
        "@lead thanks, got it!",
    ),
    Situation.GREETED: MatrixRow(
        "C2A-054", "it greets the agent and asks for nothing", _ME, _MAY, _SOON, Reason.DIRECT_MENTION,
        "@lead good morning",
    ),
    Situation.SAFETY: MatrixRow(
        "C2A-081", "it is about safety", _ME, _MUST, _NOW, Reason.SAFETY,
        "@lead our deploy token was leaked", thread_window=True,
    ),
    Situation.CANCELLATION: MatrixRow(
        "C2A-081", "it calls work off", _ME, _MUST, _NOW, Reason.CANCELLATION, "@lead stop the deploy",
        thread_window=True,
    ),
    Situation.HOLD: MatrixRow(
        "C2A-083", "it asks the agent to wait, and ends nothing", _ME, _MAY, _SOON,
        Reason.HOLD, "@lead hold on a minute", thread_window=True,
    ),
    Situation.APPROVAL: MatrixRow(
        "C2A-069", "it asks the agent to approve something", _ME, _MUST, _NOW, Reason.APPROVAL,
        "@lead ok to merge the migration?", thread_window=True,
    ),
    Situation.BLOCKER: MatrixRow(
        "C2A-069", "somebody is blocked and turns to the agent", _ME, _MUST, _SOON, Reason.BLOCKER,
        "@lead I'm blocked on the schema", thread_window=True, rises=True,
    ),
    Situation.ASSIGNMENT: MatrixRow(
        "C2A-069", "it assigns work to the agent", _ME, _MUST, _SOON, Reason.ASSIGNMENT,
        "@lead I'm assigning this bug to you", thread_window=True, rises=True,
    ),
    Situation.RESULT: MatrixRow(
        "C2A-101", "it answers what the agent asked for", _ME, _MAY, _SOON, Reason.STATUS,
        "DONE task-7, sent to lead", thread_window=True,
    ),
    Situation.INFORMED: MatrixRow(
        "C2A-058", "it informs the agent and asks for nothing", _ME, _MAY, _KNOCK, Reason.STATUS,
        "INF to lead",
    ),
    Situation.PROGRESS_TO_ME: MatrixRow(
        "C2A-182", "it reports progress or receipt to the agent and obliges nobody", _ME, _NOT, _BOX,
        Reason.STATUS, "PROG task-7, sent to lead",
    ),
    Situation.DIRECT_MESSAGE: MatrixRow(
        "C2A-066", "it was sent to the agent alone", _ME, _MUST, _SOON, Reason.DIRECT_MESSAGE,
        "(to lead alone) where is the runbook",
    ),
    Situation.DIRECT_MENTION: MatrixRow(
        "C2A-068", "it names the agent", _ME, _MUST, _SOON, Reason.DIRECT_MENTION,
        "@lead the staging logs are in", thread_window=True,
    ),
    Situation.THREAD_QUESTION: MatrixRow(
        "C2A-070", "it answers the agent's own message in a thread and wants something back", _ME, _MUST,
        _SOON, Reason.THREAD_QUESTION, "(in reply to lead) and which branch", thread_window=True,
    ),
    Situation.ANSWER: MatrixRow(
        "C2A-070", "it answers what the agent had asked its author", _ME, _MUST, _SOON,
        Reason.THREAD_QUESTION, "(lead asked Ann; Ann's next line there) staging", thread_window=True,
    ),
    Situation.CONTINUED_QUESTION: MatrixRow(
        "C2A-070", "it asks on in what its author and the agent were just talking about", _ME, _MUST, _SOON,
        Reason.THREAD_QUESTION, "(to the channel, a moment after lead answered) and which branch is that?",
        thread_window=True,
    ),
    Situation.CONTINUED: MatrixRow(
        "C2A-072", "it goes on with what its author and the agent were just talking about", _ME, _MAY, _SOON,
        Reason.THREAD_PARTICIPATION, "(to the channel, a moment after lead answered) the old one fails too",
        thread_window=True,
    ),
    Situation.LIKELY_ASKED: MatrixRow(
        "C2A-077", "it asks the room, and the agent was the last to talk with its author", _ME, _MAY, _KNOCK,
        Reason.ROLE_MENTION, "(to the channel, minutes after lead answered) is the index slow?",
        needs_claim=True,
    ),
    Situation.LIKELY_CONTINUED: MatrixRow(
        "C2A-072", "it may go on with what its author and the agent were talking about before", _ME, _MAY,
        _KNOCK, Reason.THREAD_PARTICIPATION,
        "(to the channel, minutes after lead answered) the index is slow",
    ),
    Situation.ADDED: MatrixRow(
        "C2A-083", "it adds to what its author has just asked of the agent, who has yet to answer", _ME, _MAY,
        _SOON, Reason.ADDED, "(to the channel, right after asking lead) I mean the staging one",
        thread_window=True,
    ),
    Situation.ALONE: MatrixRow(
        "C2A-077", "its author and the agent are alone in the room, so it is said to the agent", _ME, _MUST,
        _SOON, Reason.DIRECT_MESSAGE, "(Ann and lead are the only members) write a function that sorts names",
         thread_window=True,
     ),
    Situation.CALLED_BEFORE: MatrixRow(
        "C2A-083", "its author called the agent a moment before, and now says what they want", _ME, _MUST,
        _SOON, Reason.DIRECT_MENTION, "(to the channel, right after greeting lead) the importer is slow",
        thread_window=True,
    ),
    Situation.LEFT: MatrixRow(
        "C2A-192", "the agent has left this conversation", _OTHER, _NOT, _BOX, Reason.AMBIENT,
        "(after lead left) anyone?",
    ),
    Situation.ATTENTION_REQUEST: MatrixRow(
        "C2A-212", "it calls for attention and asks whoever takes it", _ROLE, _MAY, _KNOCK,
        Reason.ROLE_MENTION, "(priority attention, to all) could one of you restart the runner",
        needs_claim=True,
    ),
    Situation.ATTENTION: MatrixRow(
        "C2A-212", "it calls for everyone's attention; a receipt is enough", _ROLE, _ACK, _KNOCK,
        Reason.ROLE_MENTION, "(priority attention, to all) the freeze starts at noon",
    ),
    Situation.RECEIPT_WANTED: MatrixRow(
        "C2A-062", "the sender wants a receipt and nothing more", _ME, _ACK, _KNOCK, Reason.DIRECT_MENTION,
        "(receipt wanted, to lead) keys were rotated",
    ),
    Situation.ROLE_MENTION: MatrixRow(
        "C2A-071", "it mentions a role that the agent holds; whoever claims it may answer", _ROLE, _MAY,
        _KNOCK, Reason.ROLE_MENTION, "@backend who has time for a review", needs_claim=True,
    ),
    Situation.THREAD_REPLY: MatrixRow(
        "C2A-072", "it continues a thread or stream that the agent takes part in", _ROLE, _MAY, _KNOCK,
        Reason.THREAD_PARTICIPATION, "(in a thread where lead wrote) the index is the slow part",
    ),
    Situation.WORKER_REPLY: MatrixRow(
        "C2A-156", "a worker reports in a thread that the lead opened, not to the lead", _ROLE, _MAY, _BOX,
        Reason.THREAD_PARTICIPATION, "(in the lead's thread) the index is rebuilt, tests follow",
    ),
    Situation.TO_OTHER: MatrixRow(
        "C2A-073", "it is aimed at somebody else", _OTHER, _NOT, _BOX, Reason.TO_OTHER,
        "@worker please rerun the tests",
    ),
    Situation.STATUS_DIGEST: MatrixRow(
        "C2A-076", "it is a status report and the agent gets a digest of this place", _NONE, _NOT, _ROLLUP,
        Reason.STATUS, "build 512 passed (lead follows the channel's digest)",
    ),
    Situation.STATUS: MatrixRow(
        "C2A-076", "it is a status report", _NONE, _NOT, _SILENT, Reason.STATUS, "build 512 passed",
    ),
    Situation.OPEN_REQUEST: MatrixRow(
        "C2A-077", "it asks the room, and nobody in particular", _NONE, _MAY, _BOX, Reason.AMBIENT,
        "does anyone know why staging is slow", needs_claim=True,
    ),
    Situation.NO_TASK: MatrixRow(
        "C2A-074", "another agent says something that is no task", _OTHER, _NOT, _BOX, Reason.NO_TASK,
        "(worker, to the channel) the parser is a fine piece of work",
    ),
    Situation.AMBIENT: MatrixRow(
        "C2A-075", "it is said to the room and not to the agent", _NONE, _NOT, _BOX, Reason.AMBIENT,
        "lunch was good today",
    ),
}  # fmt: skip
