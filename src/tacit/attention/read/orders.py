"""Orders: a text that sends an agent away or calls its work off, and is nothing else.

Rows: C2A-054, C2A-081, C2A-194.

What an order does cannot be undone by a second message, so no word of a text is enough for it: "how do I get
this warning to go away?" and "cancel my lunch reminder" hold such words and mean other things. A text is an
order only when it is one from its first word to its last: every clause of it is the order itself, a courtesy
("please", "thanks", "sorry") or the reason that people give with one ("found it", "we're done here"). Any
other text is a request like others: the agent reads it, and can itself leave or stop.

"Stop the deploy" names the work. Objects are therefore taken from a list of what agents do; of anything else
("cancel my meeting at three") stopping it is the work that is asked for.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 200
"""Characters of an order; whoever writes more has more to say than that."""

_CLAUSES: Final = re.compile(r"[.!,;:\n…]+|\s[-\u2013\u2014]+\s|\s(?:but|so|and|because|since|as)\s")
_ASKED: Final = re.compile(r"\?[\s!?]*\Z")
_EDGES: Final = " \t\"'*_~-/[]{}()"

_POLITE: Final = (
    r"(?:(?:please|pls|plz|kindly|now|just|ok|okay|oh|no|wait|sorry|actually|hey|hi|so|then|lead|right|well|"
    r"everyone|all|both|guys|folks|team) )*+"
)
_AFTER: Final = (
    r"(?: (?:please|pls|plz|now|right now|immediately|at once|for now|here|then|thanks|thank you|thx|too|"
    r"again|everyone|all of you|both|guys|folks|any ?more|for good|asap|today|tonight|yet|already))*+"
)
_PLACE: Final = r"(?:channel|thread|room|conversation|convo|chat|group|discussion)"
_HERE: Final = (
    rf"(?: (?:here|in here|everywhere|(?:in|on|to|from) (?:this|the|our)(?: [\w-]{{1,30}})? ?{_PLACE}))"
)
_OUT: Final = (
    r"(?:leave|exit|quit|get out of|step out of|stay out of|keep out of|drop out of|bow out of|"
    r"remove yourself from|mute yourself in|excuse yourself from)"
)
_MEANT: Final = (
    r"(?:(?:can|could|would|will) (?:you|u|ya|y'all)|you (?:can|may|should|must|need to|have to)|"
    r"(?:i|we)(?: (?:want|need|would like|ask|asked)|'d like|'m asking|'re asking) you to|"
    r"(?:i|we)(?:'d| would) rather you|time to)"
)
_LEAVE: Final = re.compile(
    rf"{_POLITE}(?:{_MEANT} )?{_POLITE}(?:"
    rf"{_OUT}(?: (?:this|the|our|that))?(?: [\w-]{{1,30}})? ?{_PLACE}|"
    r"leave(?: us(?: alone| be)?| me alone)?|go (?:away|home)|see yourself out|butt out|bow out|get out|"
    r"remove yourself|mute yourself|excuse yourself|stay out of (?:this|it)|"
    r"stop (?:replying|posting|responding|participating|answering|commenting|chiming in|writing|talking|"
    rf"messaging){_HERE}|be quiet{_HERE}"
    rf"){_AFTER}|"
    rf"{_POLITE}you (?:can|may) go{_AFTER}|"
    rf"{_POLITE}(?:we |i )?(?:do not|don't|dont|no longer) need you(?: {_PLACE}| any ?more|{_HERE}){_AFTER}|"
    rf"{_POLITE}you(?:'re| are) (?:(?:not|no longer) (?:needed|wanted|welcome)(?: any ?more|{_HERE})|"
    rf"dismissed|free to (?:go|leave)){_AFTER}"
)

_WORK: Final = (
    r"(?:job|run|task|work|deploy|deployment|build|rollout|release|migration|process|script|search|review|"
    r"refactor|refactoring|test|tests|suite|merge|push|download|upload|import|export|backup|sync|scan|analysis|"
    r"report|query|rebase|cleanup|investigation|restart|rollback|pipeline|turn|request|question|message|order|"
    r"operation|whole thing)"
)
_OBJECT: Final = (
    rf"(?: (?:it|that|this|everything|all|all of it|anything|(?:the|this|that|your|my|my last|the last|"
    rf"that last|what i asked|any|all)(?: [\w-]{{1,20}})?? {_WORK}|what(?:ever)? you(?:'re| are) doing|"
    r"working(?: on (?:it|that|this))?|running(?: (?:it|that|this))?|deploying(?: (?:it|that|this))?))"
)
_CANCEL: Final = re.compile(
    rf"{_POLITE}(?:(?:can|could|would|will) you |you can )?{_POLITE}(?:"
    rf"(?:stop|abort|halt|cancel|kill|drop|skip|disregard|ignore)(?: stop| abort| halt){{0,6}}{_OBJECT}?"
    r"(?<!\Akill)(?<!\Adrop)(?<!\Askip)(?<!\Aignore)|"
    r"never ?mind(?: (?:that|it|me|then|my (?:question|last message)))?|nvm|nm|scratch that|"
    rf"forget (?:it|that|about (?:it|that|the(?: [\w-]{{1,20}})?? {_WORK}))|call it off|stand down|"
    r"belay that|"
    rf"hold off(?: on (?:it|that|the(?: [\w-]{{1,20}})?? {_WORK}))?|"
    r"(?:don't|dont|do not) (?:bother|deploy|merge|push|run|send|start|ship|release|continue|"
    r"proceed|go ahead|publish|restart|apply|post|commit|touch|do|delete)"
    rf"(?: (?:it|that|this|anything|the(?: [\w-]{{1,20}})?? {_WORK}))?|"
    r"(?:it(?:'s| is) |that(?:'s| is) )?(?:no|not) (?:longer )?(?:need|needed|necessary)(?: any ?more)?"
    rf"){_AFTER}"
)
_COURTESY: Final = re.compile(
    rf"{_POLITE}(?:please|pls|plz|kindly|now|just|ok|okay|oh|no|wait|sorry|actually|hey|hi|so|then|lead|right|well|"
    r"everyone|hold on|hang on|one moment|my bad|my mistake|my fault|"
    r"(?:many )?(?:thanks?|thx|ty|cheers)(?: you)?(?: (?:a lot|so much|anyway|all|everyone|again|though|"
    r"for (?:your|the|all|looking|trying)(?: [\w-]{1,20}){0,4}))*+)"
)
_REASON: Final = re.compile(
    r"(?:(?:i|we)(?:'ve| have|'ll| will)? )?(?:just )?(?:found|got|fixed|solved|figured|sorted|did|done|"
    r"handled)(?: (?:it|that|this|the (?:answer|bug|issue|problem)))?"
    r"(?: (?:out|myself|ourselves|already|now))*+|"
    r"(?:it|that|this)(?:'s| is| was)? (?:works?|working|fixed|solved|sorted|done|fine|ok|private|settled|"
    r"a mistake|a private (?:matter|channel|thread))(?: now| already| again)*+|"
    r"(?:i|we)(?:'m| am|'re| are) (?:done|good|fine|all set)(?: here| now)*+|all (?:good|done|set)(?: now)?|"
    r"(?:it(?:'s| is) )?(?:the )?wrong (?:channel|thread|room|window|branch)|false alarm|too late|"
    r"(?:i|we) changed (?:my|our) minds?|that(?:'s| is| will be| was) (?:all|enough)(?: for (?:now|today))?"
)
_NAME: Final = re.compile(r"[\w.-]{1,40}")
_LEAVING_WORDS: Final = frozenset(
    "leave exit quit out away dismissed yourself stop need needed wanted welcome free go quiet".split()  # noqa: SIM905 - words read best as prose
)
_STOPPING_WORDS: Final = frozenset(
    (  # noqa: SIM905 - words read best as prose
        "stop abort halt cancel kill drop skip disregard ignore never nevermind nvm nm scratch forget call "
        "stand belay hold don't dont not no"
    ).split()
)


def sends_away(text: str, words: set[str]) -> bool:
    """Is the text, in lower case and without names that have a sign, an order to leave?"""
    return not _LEAVING_WORDS.isdisjoint(words) and _is_all(text, _LEAVE)


def calls_off(text: str, words: set[str]) -> bool:
    """Is the text an order to stop, or does it take back what was asked?"""
    return not _STOPPING_WORDS.isdisjoint(words) and _is_all(text, _CANCEL)


def _is_all(text: str, order: re.Pattern[str]) -> bool:
    """Is every clause the order, a courtesy, a reason, or at either end one name?"""
    if len(text) > LONGEST:
        return False
    asked = _ASKED.search(text)
    said = text[: asked.start()] if asked is not None else text
    if "?" in said:
        return False
    clauses = [one for part in _CLAUSES.split(said) if (one := " ".join(part.strip(_EDGES).split()))]
    ordered = 0
    for number, clause in enumerate(clauses):
        if order.fullmatch(clause):
            ordered += 1
        elif not (
            _COURTESY.fullmatch(clause)
            or _REASON.fullmatch(clause)
            or (number in {0, len(clauses) - 1} and _NAME.fullmatch(clause))
        ):
            return False
    if asked is not None and not any(_POLITELY.search(one) for one in clauses):
        # "stop?" asks; "could you leave this channel, please?" does not.
        return False
    return ordered > 0


_POLITELY: Final = re.compile(r"\b(?:can|could|would|will) (?:you|u|ya|y'all)\b")
