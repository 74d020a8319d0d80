"""Silence: a model that says that it says nothing has said nothing (C2A-059).

Models asked to stay quiet answer with a token, a stage direction, an empty object, or a sentence about not
answering. `said` gives what is left to post: the text, or nothing. A form counts only when it is the whole of
what was said; words that merely contain it are posted. Some forms are an answer where an answer is owed ("no
action needed"): those count only when nobody is owed one. Knows no events and no policies but that one bit.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST: Final = 400
"""Longer texts say something."""

_THOUGHT: Final = re.compile(
    r"\A\s*<(think|thinking|thought|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_TOKEN: Final = re.compile(
    r"""[\W_]*(?:
      no[ _-]?(?:reply|response|answer|comment[ _-]needed|output)
    | (?:reply|response)\s*[:=]\W*(?:none|null|no|empty|n/?a|silent|silence|skip|no[ _-]?reply)
    | (?:stay|remain|keep)[ _-](?:silent|quiet)
    | silen(?:t|ce)(?:[ _-](?:reply|response))? | silently | mute
    | must[ _-]not[ _-]respond | will[ _-]not[ _-]respond
    | heartbeat[ _-]ok | end[ _-](?:of[ _-])?turn | (?:empty|blank|null)[ _-](?:reply|response|message|output)
    | no[ _-]?reply[ _-](?:needed|required|necessary)
    )[\W_]*""",
    re.VERBOSE,
)
_LOOSE_TOKEN: Final = re.compile(
    r"""[\W_]*(?:
      no[ _-]?(?:message|op|action) | (?:empty|blank|null)[ _-]string | be[ _-](?:silent|quiet)
    | do[ _-]not[ _-]respond | (?:answer|action)\s*[:=]\W*(?:none|null|empty|n/?a|silent|silence|skip)
    )[\W_]*""",
    re.VERBOSE,
)
"""Tokens that may also be what was asked for: what a function returns, whether to answer a letter."""
_SHOUTED: Final = re.compile(r"NO[_-]?(?:REPLY|RESPONSE)(?:[_-]NEEDED)?|HEARTBEAT_OK")
"""Tokens in capitals that are nothing else; as a sentence of its own at either end one speaks for all."""
_OPENING: Final = re.compile(rf"(?:{_SHOUTED.pattern})\s*(?:[—–:(.;-]|\Z)")
_CLOSING: Final = re.compile(
    r"(?:[.!?)\]…]|\b(?:final answer|answer|reply|response|output|assistant|final|decision|action)\s*[:=])"
    rf"\s+(?:{_SHOUTED.pattern})"
)
_VERDICT: Final = re.compile(r"SKIP|PASS|IGNORE")
"""Alone on their line: a verdict where somebody waits for one, else a shrug."""
_TAGS: Final = re.compile(r"</?(?:response|reply|answer|final|output|message|assistant)\s*/?>", re.IGNORECASE)
_HUSH: Final = frozenset("🤐🤫🙊")
_BRACKETED: Final = re.compile(
    r"[\[(<{*_]+\s*(?:none|nothing|null|empty|skip(?:ped|s)?|pass(?:es)?|ignored?|ignoring|quiet|n/?a|noop|no|"
    r"(?:stays?|remains?|staying|remaining|keeps?|keeping) (?:silent|quiet)|says nothing|does not (?:reply|respond|"
    r"answer)|no (?:reply|response|answer|output|comment|message)[^\])>}*_]{0,40}|intentionally (?:left )?(?:blank|"
    r"empty|silent)|silence)\s*/?[.!]?\s*[\])>}*_]+"
)
_EMPTY_OBJECT: Final = re.compile(
    r"\{\s*(?:\"?(?:reply|response|message|text|content|answer|body)\"?\s*:\s*(?:null|\"\"|false|\"no_?reply\")|"
    r"\"?(?:no_?reply|silent|silence|skip)\"?\s*:\s*true|"
    r"\"?(?:action|type|decision|should_?(?:reply|respond))\"?\s*:\s*"
    r"(?:false|null|\"(?:none|no_?reply|no_?response|ignore|skip|silent|silence|noop|wait|stay_silent)\"))"
    r"(?:\s*,\s*\"?(?:reason|why|rationale|explanation|message|text|reply)\"?\s*:\s*(?:null|\"[^\"]*\"))*\s*\}"
)

_ME: Final = r"(?: (?:from|by|for|on|to) (?:me|my (?:part|side|end)|this agent|us))?"
_NOW: Final = (
    r"(?: (?:here|now|for now|right now|then|yet|at this (?:time|point|stage|moment)|at the moment|this time|"
    r"in this (?:thread|channel|conversation|case|turn|room|exchange)|on this(?: one| matter| point)?|as (?:such|is)|"
    r"to (?:this|that|it|them|the (?:above|message|event|thanks|acknowledg(?:e)?ment))(?: (?:message|event|one))?|"
    r"today|either|further|any ?more|myself|beyond that))*"
)
_WHY: Final = (
    r"(?:,? (?:since|as|because|given(?: that)?|so|and so|per|according to|under|due to|unless|until|"
    r"in line with|following|while|when)\b"
    r"(?=.*\b(?:me|my|mine|policy|polic(?:y|ies)|rules?|addressed|directed|mention(?:s|ed)?|named|asks?|asked|"
    r"called|claimed|needed|necessary|necessarily|required|task|question|thanks|gratitude|loop|add|new|repl(?:y|ies)|"
    r"respon(?:d|se)|answer|acknowledg\w*|must_not_respond|may_respond|informational|status|update|handled|handling|"
    r"answered|covered|others?|someone|somebody|another|resolved|done|closed|silent|quiet)\b).{1,160})?"
)
_THING: Final = r"(?:reply|response|answer|comment|message|follow[- ]?up|acknowledg(?:e)?ment|repl(?:y|ies))"
_SAY: Final = (
    r"(?:reply(?:ing)?|respond(?:ing)?|answer(?:ing)?|comment(?:ing)?|chim(?:e|ing) in|jump(?:ing)? in|"
    r"weigh(?:ing)? in|"
    r"interject(?:ing)?|post(?:ing)?(?: anything| a message| a reply)?|say(?:ing)? anything|"
    r"send(?:ing)? (?:anything|a (?:message|reply|response)))"
)
_STILL: Final = r"(?:silent|quiet|mum|out of (?:it|this(?: one)?|the way)|on the sidelines|in the background)"
_LEAD: Final = (
    r"(?:(?:since|as|because|given that)\b(?=[^,]*\b(?:me|policy|rules?|addressed|directed|thanks|must_not_respond|"
    r"may_respond)\b)[^,]{1,160}, )?(?:(?:ok|okay|understood|noted|alright|right|acknowledged|so|therefore|thus|hence|then|well|sure|got it|"
    r"accordingly|as such|in this case|for this one|for now|here|here,? too|per (?:the|my) (?:policy|rules)|"
    r"under the (?:policy|rules)|based on the (?:policy|rules)|given that|and|but|no problem)[,:;]? )*"
)
_CERTAIN: Final = tuple(
    re.compile(_LEAD + body + _WHY)
    for body in (
        (
            rf"(?:there(?:'s| is) )?no (?:further |additional |more |new |visible |public |chat |explicit |direct |"
            rf"substantive )*{_THING}s?(?: (?:is|was|are|seems|appears))?(?: (?:needed|required|necessary|warranted|"
            rf"expected|wanted|called for|appropriate|due|sent|given|posted|to send|to give|to make|owed))?{_ME}{_NOW}{_ME}"
        ),
        (
            rf"(?:i(?:'ll| will| am going to|'m going to| shall| should| must| choose to| chose to|'m choosing to| have "
            rf"chosen to|'ve chosen to|"
            rf" have decided to|'ve decided to|'d rather| would rather| prefer to| can| plan to| intend to|'m going to|"
            rf" am to| ought to| need to|'ll just| will just|'ll simply| will simply)|let me|agent will|will|choosing to|"
            rf"opting to|electing to) (?:just |simply |now |therefore |thus )*(?:stay|remain|keep|be|sit this one out|hold "
            rf"back|say nothing|not {_SAY}|refrain from {_SAY}|avoid {_SAY}|let (?:this|that|it) (?:one )?(?:go|pass|be|"
            rf"stand)|skip (?:this|that|it)(?: one)?|pass(?: on this(?: one)?)?|stand by|stay out)(?: {_STILL})?{_ME}{_NOW}"
        ),
        (
            rf"(?:i(?:'m| am) |this agent is )?(?:just |simply |therefore |choosing )*(?:staying|remaining|keeping|being|sitting this "
            rf"one out|holding back|saying nothing|not {_SAY}|not going to {_SAY}|standing by silently|standing by|"
            rf"skipping(?: this(?: one)?)?|passing on this(?: one)?|"
            rf"refraining from {_SAY}|not to {_SAY}|choosing silence|opting for silence)(?: {_STILL})?{_ME}{_NOW}"
        ),
        (
            rf"(?:i |we )(?:won't|will not|do not need to|don't need to|need not|needn't|shouldn't|should not|"
            rf"must not|mustn't|am not going to|may not|cannot|can't|don't have to|do not have to|am not (?:supposed|"
            rf"required|obliged|obligated|asked|expected) to|"
            rf"have no (?:need|reason|obligation) to) {_SAY}{_NOW}"
        ),
        (
            rf"(?:this|that|it|the (?:message|event|above|last message|latest message|conversation|thread))(?: message| "
            rf"event| one)? (?:does not|doesn't|did not|didn't) (?:seem to |appear to |really |actually )?(?:need|require|"
            rf"call for|warrant|want|ask for|expect|merit) (?:a |an |any |my |a further )?(?:{_THING}|input|reaction)s?"
            rf"{_ME}{_NOW}"
        ),
        (
            rf"(?:{_THING}|replying|responding|answering) (?:is|would be|was) (?:not |un)(?: )?(?:needed|required|necessary|"
            rf"warranted|expected|appropriate|called for){_ME}{_NOW}"
        ),
        (
            r"(?:this|that|it|the (?:message|event|question|request|mention))(?: message| event| one| question| request)? "
            r"(?:is|was|seems|appears|looks)(?: to be)?(?: not|n't)? (?:really |clearly |explicitly |actually )?(?:directed|"
            r"addressed|aimed|meant|intended|targeted|for) ?(?:at|to|for|towards?)? ?(?:me|this agent|(?:someone|somebody|"
            r"anyone|another agent|a different agent|other agents?|another person|others?)(?: else)?)(?:,? not (?:at |to |for "
            r")?me)?"
        ),
        (
            r"(?:this|that|it|the (?:message|event))(?: message| event)? (?:is|was) (?:addressed|directed|aimed|meant|for) ?"
            r"(?:at|to|for)? ?@?[\w.-]{1,40}(?:,| and| -)? not (?:at |to |for )?me"
        ),
        r"(?:response_?policy|policy)(?: is|:) ?`?(?:must_not_respond|may_respond|ack_only)`?",
        r"(?:i(?:'m| am) )?(?:not )?(?:allowed|permitted) to (?:reply|respond) (?:here|to this)",
        (
            r"silence(?: is (?:the )?(?:best|right|appropriate|correct|fine|golden here)(?: (?:answer|response|choice|"
            r"reply|here))*)?(?: it is)?"
        ),
        r"keine (?:antwort|rückmeldung)(?: (?:nötig|erforderlich|notwendig))?",
        r"(?:pas de|aucune) réponse(?: (?:nécessaire|requise))?",
        r"(?:sin respuesta|no (?:hace falta|es necesario|se requiere) (?:una )?respuesta|no es necesario responder)",
        r"(?:nessuna risposta(?: necessaria)?|sem resposta(?: necessária)?|回复不需要|无需回复|不需要回复|返信不要)",
    )
)
_LOOSE: Final = tuple(
    re.compile(_LEAD + body + _WHY)
    for body in (
        (
            rf"(?:i(?:'ve| have)? |there(?:'s| is) )?(?:got )?(?:nothing|not much|no(?:thing)? new information)(?: (?:further|more|else|new|"
            rf"useful|meaningful|of value|substantive))*(?: for me)?(?: to (?:add|say|contribute|do|report|respond to|reply "
            rf"to|answer))?{_NOW}"
        ),
        (
            rf"(?:there(?:'s| is) )?no (?:further |additional |more )*(?:action|input|work|task|question|comment|intervention)s?"
            rf"(?: (?:is|was|are))?(?: (?:needed|required|necessary|warranted|expected|for me|to do|"
            rf"to answer))?{_ME}{_NOW}"
        ),
        r"(?:this is )?(?:not (?:for me|my (?:concern|task|call|turn|place))|none of my business)",
        rf"(?:i(?:'ll| will) )?(?:defer|leave (?:it|this|that)) to (?:the )?(?:others?|them|owner|[\w.-]+){_NOW}",
        r"(?:i(?:'m| am) )?(?:listening|observing|just watching|watching|monitoring)(?: silently| quietly)?",
        r"n/?a|none|null|skip|pass|ignored?|noop|\(empty\)",
        r"(?:ok|okay|noted|understood|acknowledged|ack|seen|got it|thanks|thank you)",
    )
)
_POLITE: Final = re.compile(
    r"(?:ok|okay|noted|understood|acknowledged|ack|seen|got it|alright|right|thanks|thank you|received|makes sense|"
    r"reason|note|rationale|response_policy|policy)(?: for (?:the|your) \w+)?"
)
_THANKED: Final = re.compile(
    r"(?:(?:this|that|it)(?: message)?(?: is|'s| was) |[\w.-]{1,40} )(?:just |only |merely |simply )*(?:said |wrote |an? |says )?"
    r"(?:thanks|thank(?:s|ed|ing)?(?:[- ]you)?(?: (?:me|us))?|gratitude|acknowledg\w+|status update|fyi)(?: only)?"
)
"""What the other one did that wants no answer."""
_SPLIT: Final = re.compile(
    r"(?:[.!;\n:]|\s[-–—]\s)+\s*|,? (?:so|and|therefore) (?=i\b|no |there|nothing)|, (?=no (?:reply|response|answer))"
)
_WRAP: Final = "\"'`*_~>«»“”‘’()[]{}<> \t"


def said(text: str, *, obliged: bool) -> str:
    """What a model's last word leaves to post; empty when it chose silence."""
    spoken = _THOUGHT.sub("", text).strip()
    return "" if is_silence(spoken, obliged=obliged) else spoken


def is_silence(text: str, *, obliged: bool) -> bool:
    """Does this text, taken as a whole, say only that nothing is said?"""
    spoken = _TAGS.sub("", text).replace("\\_", "_").strip()
    if not any(letter.isalnum() for letter in spoken):
        # Dots and dashes are silence; a lone sign such as a thumb or a question mark says something.
        return all(
            unicodedata.category(one)[0] in "ZC" or one in ".…-–—_*`~\"'()[]{}<>|" or one in _HUSH
            for one in spoken
        )
    if _is_shouted(spoken):
        return True
    if len(spoken) > LONGEST:
        return False
    if _VERDICT.fullmatch(spoken.strip(_WRAP + ".!")):
        return not obliged
    plain = _plain(spoken)
    return _is_form(plain, obliged=obliged) or _is_talk_of_silence(plain, obliged=obliged)


def _is_shouted(spoken: str) -> bool:
    """Is a token in capitals the first or the last thing said?"""
    lines = [line.strip(_WRAP + ".!#-") for line in spoken.splitlines() if line.strip()]
    if any(_SHOUTED.fullmatch(line) for line in (lines[0], lines[-1])):
        return True
    return _OPENING.match(lines[0]) is not None or any(
        end.end() == len(lines[-1]) for end in _CLOSING.finditer(lines[-1])
    )


def _plain(text: str) -> str:
    flat = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    fence = re.fullmatch(r"```\w*\s*(.*?)\s*```", flat.strip(), re.DOTALL)
    return " ".join((fence.group(1) if fence else flat).casefold().split(" ")).strip()


def _is_form(plain: str, *, obliged: bool) -> bool:
    forms = (
        (_TOKEN, _BRACKETED, _EMPTY_OBJECT) if obliged else (_TOKEN, _BRACKETED, _EMPTY_OBJECT, _LOOSE_TOKEN)
    )
    return any(pattern.fullmatch(plain) for pattern in forms)


def _is_talk_of_silence(plain: str, *, obliged: bool) -> bool:
    if "?" in plain:
        return False
    pieces = [" ".join(piece.strip(_WRAP + ",").split()) for piece in _SPLIT.split(plain.strip(_WRAP))]
    pieces = [piece for piece in pieces if piece]
    silent = [piece for piece in pieces if _is_sentence(piece, obliged=obliged)]
    rest = [piece for piece in pieces if piece not in silent]
    return bool(silent) and all(
        _POLITE.fullmatch(piece) or (not obliged and _THANKED.fullmatch(piece)) for piece in rest
    )


def _is_sentence(piece: str, *, obliged: bool) -> bool:
    if any(pattern.fullmatch(piece) for pattern in _CERTAIN) or _TOKEN.fullmatch(piece):
        return True
    return not obliged and any(pattern.fullmatch(piece) for pattern in _LOOSE)
