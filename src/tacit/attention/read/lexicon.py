"""The lexicon: patterns over lower-case prose that say what a text asks, tells or only signals (C2A-054).

A pattern is tried only when one of its words is there, and none of them reads the same words in two ways, so
that no text costs more than its length. First what asks, then what answers, thanks and reports. What a match
adds up to is for `intent`.
"""

from __future__ import annotations

import re
from typing import Final


class Phrases:
    """A pattern, and words of which every match holds at least one.

    Without them the pattern is not even tried.
    """

    __slots__ = ("pattern", "words")

    def __init__(self, pattern: re.Pattern[str], words: str) -> None:
        self.pattern = pattern
        self.words = frozenset(words.split())


def any_of(*parts: str, words: str, start: str = r"(?<![\w'])", end: str = r"(?!'?\w)") -> Phrases:
    """The parts as one pattern that stands on its own in the text."""
    return Phrases(re.compile(f"{start}(?:{'|'.join(parts)}){end}"), words)


_YOU: Final = r"(?:you|u|ya|y'all|someone|somebody|some1|anyone|anybody|any1|one of you|any of you|we)"
SAFETY: Final = any_of(
    r"(?:leaked|exposed|compromised|stolen) (?:the |our |my |a |an )?(?:key|keys|token|tokens|password|"
    r"passwords|"
    r"credential|credentials|secret|secrets|data)",
    r"(?:key|keys|token|tokens|password|passwords|credentials|secrets?) (?:(?:was|were|is|are|has been|"
    r"have been|got|"
    r"just) ){0,6}(?:leaked|exposed|compromised|stolen|public)",
    r"(?:(?:this|it|that) is|it's|we(?:'ve| have)(?: got)?|there(?:'s| is| was| has been)|had|having|"
    r"possible|suspected|reporting) (?:an? |our |the )?(?:security (?:incident|breach)|"
    r"data (?:breach|loss|leak)|emergency)",
    r"security (?:incident|breach)(?=[!:])|we(?:'ve| have) been hacked|emergency(?=!)|"
    r"wiping (?:the|our) (?:database|disk|data)",
    words="leaked exposed compromised stolen public breach incident loss leak hacked emergency wiping",
)
_GO: Final = (
    r"(?:merge|deploy|ship|release|proceed|go ahead|go|push|start|publish|roll out|close|delete|continue|"
    r"land|cut)"
)
APPROVAL: Final = any_of(
    r"(?:can|could|would|will|may|might) (?:you|u|someone|somebody|anyone|i get you to) (?:please |pls |"
    r"quickly |also "
    r"|just ){0,6}(?:approve|sign[- ]?off|ok|okay|green-?light|lgtm|stamp|bless|authori[sz]e|confirm)",
    r"(?:please|pls|plz|kindly) (?:approve|sign[- ]?off|confirm|authori[sz]e|ok (?:this|it|the)|green-?light|"
    r"stamp)",
    r"(?:need|needs|needing|want|awaiting|await|pending|require|requires|requesting|waiting (?:for|on)|"
    r"asking for|"
    r"get|have|missing|without|seek|seeking) (?:on )?(?:your |an? |the |final |some |his |her |one more |"
    r"someone's ){0,6}"
    r"(?:approval|approvals|sign[- ]?off|go-?ahead|green light|blessing|permission|authori[sz]ation|"
    r"ok(?:ay)? (?:on|to|"
    r"for|before))",
    r"(?:ok|okay|fine|good|safe|ready|cool|alright) (?:for me |with you )?(?:to|if (?:i|we)) (?:just )?"
    + _GO,
    rf"(?:may|can|should|shall|could) (?:i|we) (?:now |please |just |already |then )?{_GO}(?! (?:with|about|"
    rf"from) )",
    r"(?:are|is|r) (?:you|u|everyone|it) (?:all )?(?:ok|okay|fine|happy|good|alright|cool) (?:with|if|"
    r"for me to|to)",
    r"mind if (?:i|we)|(?:can|could|may) (?:i|we) get (?:a|an|your|some) (?:stamp|ok|okay|approval|"
    r"sign[- ]?off|go-?ahead|"
    r"thumbs up|blessing)|(?:need|want|get|waiting for|require) an? (?:ok|okay|thumbs up|stamp) (?:from|on|"
    r"by|before|to)|"
    r"permission to|do (?:you|we) approve|approve\?|approval (?:needed|required|please|pls)|approved\?",
    r"(?:good|cleared) to go\?|do i have (?:your|the) (?:ok|go-?ahead|approval|blessing)|your call(?: on|"
    r" whether)?",
    r"up for (?:your )?approval|for your approval|approve or (?:reject|decline|deny)|yes or no on",
    words="approve approved approval approvals sign signoff ok okay green greenlight lgtm stamp bless "
    "blessing authorise authorize authorisation authorization confirm permission go goahead ahead merge "
    "deploy ship release proceed push start publish roll close delete continue land cut happy fine good "
    "alright cool call yes mind thumbs",
)
APPROVE_FIRST: Final = re.compile(r"\W*(?:approve|sign off on|green-?light|authori[sz]e) \w")
BLOCKER: Final = any_of(
    r"(?<!un)(?<!not )(?<!no longer )(?<!isn't )(?<!aren't )(?<!without )block(?:ed|ing)(?= (?:on|by|until|"
    r"me|us|the|my|"
    r"our|everyone|everything|release|here|at|since|from|because|all|deploy|now|for)|[\s.!,]*$|[.!,])",
    r"(?:is|am|are|'m|'re|i'm|we're|got|totally|completely|still|now) (?:a )?(?:blocker|blocked|stuck)",
    r"(?<!no )(?<!any )(?<!not a )blockers?(?= (?:for|on|is|:|here|from)|:)",
    r"(?:can't|cannot|can not|cant|couldn't|unable to) (?:proceed|continue|go on|move (?:on|forward)|"
    r"make progress|"
    r"get any further|work until|start until|do anything)",
    r"(?:waiting|wait) (?:on|for) (?:you|your|u)(?! guys to enjoy)",
    r"(?:holding|held) (?:us|me|everything|everyone|it|things|the release|this) (?:all )?up|held up (?:by|on|"
    r"until)",
    r"show-?stopper|(?:prod|production|site|server|service|api|database|db|staging|main|master|ci|cluster|"
    r"website|"
    r"checkout|login|everything|gateway|the app) (?:is|are|went|seems?|has gone) (?:completely |"
    r"totally )?(?:down|broken|dead|"
    r"unreachable|on fire|offline|hosed)",
    r"(?:outage|sev ?[012]|p0|incident)(?= (?:in|on|at|for|right|is|open|ongoing|declared)|[:!])|"
    r"(?:broke|breaking|has broken|have broken) (?:prod|production|main|master|the (?:build|"
    r"release|site|pipeline|deploy))",
    r"nothing works|stuck (?:on|at|with|here|until|because|waiting)|dead in the water|need(?:s)? unblocking|"
    r"unblock (?:me|us|the|this)",
    words="blocked blocking blocker blockers stuck proceed continue go move progress further until anything "
    "waiting wait up showstopper show stopper down broken dead unreachable fire offline hosed outage sev "
    "sev0 sev1 sev2 p0 incident broke breaking nothing water unblocking unblock",
)
ASSIGNMENT: Final = any_of(
    r"(?:i'm |i am |i've |i have |we |i |we've |we're )?assign(?:ing|ed)? (?:this|it|that|the|these|ticket|"
    r"issue|"
    r"you|#\d+|both|all|those)",
    r"assigned (?:this )?to you|assigned you",
    r"(?:this|that|the next|the other|next) (?:one|ticket|issue|bug|task)(?: is|'s) (?:all )?yours|"
    r"is yours(?: now)?|"
    r"yours now|all yours|over to you|you're up|your turn|tag,? you're it|your task|your job (?:is|now|for)",
    r"(?:i|we) (?:need|want|would like|'d like) you to|i'd like you to|we'd like you to",
    r"(?:please |pls |can you |could you |will you |would you |i'd say you |you should |you can |you )"
    r"(?:please )?(?:take (?:over|care of|on|ownership|charge|this|that|the|it|issue|ticket|#|point)|"
    r"own (?:this|the|that|"
    r"it)|pick (?:up|this up|that up|it up)|handle|lead the|drive (?:the|this))",
    r"hand(?:ing|ed)? (?:this |it |that |the [\w-]+ )?(?:over|off) (?:the [\w-]+ |this |it )?to you|"
    r"delegat(?:e|ing|ed) (?:this|it|that|the)",
    r"you(?:'re| are|'ll be| will be) (?:now )?(?:responsible|in charge|on (?:the hook|point|call|duty|the|"
    r"this)|the "
    r"(?:owner|lead|dri))|you own (?:this|the|it)|you (?:get|got|have) the",
    r"(?:put|putting) you (?:down )?(?:on|in charge)|take (?:this|that) one|on your plate|new task for you|"
    r"task for you|"
    r"here's your (?:next )?(?:task|assignment)|your next (?:task|assignment|job)",
    words="assign assigning assigned you your yours you're you'll please pls take delegate delegating "
    "delegated",
)
REQUEST: Final = any_of(
    rf"(?:can|could|would|will|won't|wouldn't|cud|couldnt|couldn't|might|cld) {_YOU}(?! (?:believe|imagine|"
    rf"see the|look "
    r"at that))",
    r"(?<!yes )(?:please|pls|plz|plsss?|pleeease)(?! (?:note|be aware|find (?:attached|the)))|kindly",
    r"let (?:me|us) know|lmk|make sure|be sure to|be so kind|see to it|see if you can|tell me|show me|"
    r"give me|"
    r"send me|help (?:me|us)(?! a lot)|remind (?:me|us)|ping (?:me|us)|walk me through|keep (?:me|"
    r"us) (?:posted|updated)|"
    r"get back to (?:me|us)",
    r"(?:i|we|you|someone|somebody|it|this|that|team) (?:really |still |just |also |only |might |may |will |"
    r"do )?"
    r"(?:need|needs|require|want|wants)(?! (?:to (?:leave|go|sleep|eat)|no |not ))(?= (?:you|someone|"
    r"somebody|help|a |an "
    r"|some|the|more|this|that|to be|another|it|your|eyes|review|fixing|two|one|new|logs|access|input))",
    r"(?:could|can) (?:really )?use (?:a|some|another|your)|hand (?:me|us)|you (?:could|may|might) (?:just|"
    r"also|try|use|as "
    r"well)|need (?:a|an|some|more|your|eyes|help|input|someone|somebody)|would (?:love|appreciate|"
    r"like) (?:a|an|some|your)",
    r"needs? (?:to be|fixing|a (?:review|look|fix|rebase|second)|reviewing|your (?:input|attention|help|"
    r"review|eyes)|"
    r"someone to|somebody to|attention|looking)",
    r"(?:would|i'd|we'd|it'd) (?:really |also |be ){0,6}(?:love|appreciate|great|good|nice|helpful|lovely|"
    r"awesome|"
    r"wonderful|cool)(?: it)? (?:if|to (?:have|get|see)|an?|some|your)",
    r"(?:do you|would you|d'you|don't you|u) mind|mind (?:checking|looking|taking|having|doing|running|"
    r"sending|"
    r"re-?running|reviewing|sharing|pasting|posting|giving|if)|do me a favou?r|quick favou?r|favou?r to ask",
    r"(?:don't|do not|dont) forget (?:to|the)|remember to|feel free to|you (?:should|need to|have to|must|"
    r"ought to|"
    r"gotta|might want to|may want to|can (?:now |go |start|also |just |try|use))",
    r"we (?:should|need to|have to|must|gotta|ought to)(?! have)|let's|lets (?!you|me|us|it|them)|"
    r"how about (?:we|you)|"
    r"why (?:don't|not) (?:you|we)",
    r"(?:thanks|thank you|thx|cheers|ty) in advance|in advance thanks|todo|to-do|action item|asap|by (?:eod|"
    r"eow|cob|"
    r"tomorrow|tonight|friday|monday|noon)|looking for (?:someone|somebody|help|a (?:volunteer|reviewer))|"
    r"requesting|request for|wanted:|volunteers?(?: needed|\?)|any (?:takers|volunteers)|who(?:'s|"
    r" is) up for",
    r"go ahead|go for it|ship it|do it|try (?:\w+ing|again|it|that|this|now|the|with)|give (?:it|this|"
    r"that) (?:a|another) "
    r"(?:try|go|shot|spin|look|read|once-over)|have a (?:look|go)|take a (?:look|stab|peek)|give (?:me|"
    r"us) a (?:hand|shout|"
    r"ping)|your (?:thoughts|opinion|input|help|feedback|review) (?:on|would|is|are|here)|thoughts(?: on)?\?|"
    r"ptal|rfc",
    r"(?:supposed|expected) to (?:do|fix|send|review)|i'm (?:asking|requesting)|want(?:s)? (?:you|me|us) to|"
    r"hoping (?:you|"
    r"someone|somebody)|hope you can|appreciate (?:any|some|your) (?:help|pointers|input|hints|tips|advice)|"
    r"any (?:help|"
    r"pointers|hints|tips|advice) (?:is|are|would|appreciated|welcome)",
    words="use hand can could would will won't wouldn't cud couldnt couldn't might cld please pls plz plss "
    "plsss pleeease kindly let lmk make be kind see tell show give send help remind ping walk keep get need "
    "needs require want wants i'd it'd we'd mind favour favor forget remember feel should must gotta have "
    "ought may let's lets how why advance todo do action asap eod eow cob tomorrow tonight friday monday "
    "noon looking requesting request wanted volunteer volunteers takers who's who go ship try take thoughts "
    "opinion input feedback review ptal rfc supposed expected asking hoping hope appreciate any your you",
)
_VERBS: Final = (  # noqa: SIM905 - words read best as prose
    "add adjust alert analyse analyze announce answer append apply archive ask attach audit back backport "
    "bake "
    "benchmark bisect book bring build bump bundle call capture change check chase choose clarify clean "
    "clear clone "
    "close collect combine comment commit compare compile complete configure confirm connect consider "
    "contact convert "
    "copy correct create cut debug decide define delete demo deploy describe design detail determine "
    "diagnose diff "
    "disable discuss do document double-check download draft draw drop dump edit email enable ensure "
    "escalate estimate "
    "evaluate examine execute expand explain export extend extract fetch figure file fill filter find finish "
    "fix flag "
    "follow format forward generate get give grab grep handle have help hide identify ignore implement "
    "import improve "
    "include increase inform insert inspect install investigate invite isolate join keep kick kill launch "
    "link list "
    "load lock log look lower maintain make map mark measure mention merge migrate mock monitor mount move "
    "mute name "
    "note notify obtain open optimise optimize order organise organize outline package paste patch pause "
    "pick pin ping "
    "pipe plan point poll port post postpone prefer prepare present prevent print prioritise prioritize "
    "produce profile "
    "propose prove provide publish pull purge push put query quote raise re-check re-run re-test read "
    "reassign rebase "
    "reboot rebuild recheck recommend record redeploy redirect redo reduce refactor refresh regenerate "
    "register reject "
    "release reload remind remove rename render reopen replace reply report repro reproduce rerun research "
    "reset resend "
    "resolve respond restart restore resume retest retry return revert review revise revoke rewrite roll "
    "rotate run save "
    "scale scan schedule search secure see select send separate serve set setup share ship show shut sign "
    "simplify skip "
    "solve sort specify spin split squash stage start stash state stick submit suggest summarise summarize "
    "suspend swap "
    "switch sync tag take talk tell terminate test tidy toggle trace track transfer translate trigger trim "
    "try tune turn "
    "tweak uninstall unlock unpin update upgrade upload use validate verify wait wake walk warn watch wire "
    "work wrap "
    "write zip"
).split()
_IMPERATIVE: Final = re.compile(
    r"(?:^|[.!?;:\n]\s*|,\s*(?:and |then |now |also |so |but )?|\b(?:and|then|also|but|so) (?:then |also |"
    r"now )?)\W{0,3}"
    r"(?:(?:hey|hi|ok|okay|so|now|then|just|also|and|next|first|instead|quickly|yes|no|sure|great|cool|right|"
    r"perfect|"
    r"alright|always|never|actually|maybe|well|good|nice|oh|again),? ){0,6}"
    rf"(?:{'|'.join(map(re.escape, _VERBS))})"
    r"(?= (?:the|a|an|this|that|these|those|it|me|us|my|your|our|their|his|her|its|all|any|each|every|some|"
    r"both|what|"
    r"which|where|who|why|how|when|if|whether|out|up|down|off|on|in|into|over|back|through|with|for|from|to|"
    r"at|by|about|"
    r"again|one|two|three|five|ten|everything|everyone|them|him|only|more|no|another|after|before|against|"
    r"and|or|there|"
    r"here|now|please|using|via|under|between|behind|as|until|just|twice|once|\d|#|pr\b|ci\b|issue|ticket|"
    r"v\d|"
    r"[`\"'/.\-_]|[\w.-]*[/_.\d-]\w|[\w-]+s\b|[\w-]+ (?:to|for|in|on|from|with|and|into|again|before|after|"
    r"until|back|by|"
    r"first|instead|once)\b))"
)
QUESTION: Final = any_of(
    r"(?:what|whats|what's|when|when's|where|where's|wheres|who|who's|whos|why|why's|which|how|how's|hows|"
    r"whose)"
    r"(?: [\w'-]+|$)",
    start=r"(?:^|[.!?;:\n]\s*|,\s+(?:and |but |so |or )|(?<!\w)(?:so|and|but|ok|okay|hey|hi|hello|well|um|uh|"
    r"hmm|also|"
    r"then|wait|btw|guys|folks|anyone|please|exactly|sorry|yeah|yes|no|oh|thanks|thx|cool|question|error \d+|"
    r"that|it|this|fix|know),? )",
    words="what whats what's when when's where where's wheres who who's whos why why's which how how's hows "
    "whose",
)
EXCLAIMED: Final = re.compile(
    r"(?:^|[.!?,;\n] ?)(?:what an? (?:\w+ ){0,3}\w+[!.]*$|how (?:\w+ )?(?:nice|cool|lovely|great|sweet|fun|"
    r"kind)\b)"
)
SUBORDINATE: Final = re.compile(
    r"^(?:when|where|whichever|how|what|which|who) [^?]*, (?:i|we|it|the|then|that)\b[^?]*$"
)
ASKING: Final = any_of(
    r"(?:i )?wonder(?:ing)?(?: (?:if|whether|how|why|what|when|where|who|which|about))|curious (?:if|whether|"
    r"how|why|what|"
    r"about|to know)|any (?:idea|ideas|clue|news|updates?|luck|progress|eta|thoughts|word|chance|reason|way|"
    r"opinion|"
    r"objections?|concerns?|suggestions?|preference|recommendations?|pointers|hints?|"
    r"feedback)(?! (?:yet )?(?:from me|is"
    r"|are) (?:fine|welcome))",
    r"(?:not|isn't|aren't|i'm not|wasn't) (?:quite |really |entirely |100% )?(?:sure|certain|clear) (?:if|"
    r"whether|how|why|"
    r"what|which|where|who|when|about)|unsure (?:if|whether|how|why|what|which|where|about)|"
    r"(?:don't|dont|do not|didn't|doesn't) (?:really |quite )?(?:know|understand|get|see|remember|"
    r"recall) (?:if|whether|how|"
    r"why|what|which|where|who|when)|no (?:idea|clue) (?:if|whether|how|why|what|which|where|who|when)",
    r"(?:anyone|anybody|someone|somebody|any1|has anyone|does anyone|did anyone|is anyone|"
    r"anyone else) (?:here |else )?(?:know|"
    r"knows|seen|see|seeing|have|has|had|having|tried|able|around|using|use|used|got|up for|free|available|"
    r"familiar|getting|"
    r"remember|run|hit|aware|looking|working|can|object|who|want|willing|experienced|notice)",
    r"(?:do|does|did|don't|doesn't|didn't) (?:you|u|we|they|it|this|that|the|anyone|anybody|i|he|she|ya|your|"
    r"our)(?! not)",
    r"(?:have|has|hasn't|haven't) (?:you|u|we|they|it|this|that|the|anyone|anybody|ya)",
    r"(?:can't|cannot|cant|couldn't) (?:figure|work|find|tell|see|remember) (?:out )?(?:how|why|what|where|"
    r"which|who|if)|"
    r"you know (?:how|why|what|where|which|who|if|when)|(?:got|have) a (?:quick )?question|quick question|"
    r"question (?:about|for|on|re|regarding)|asking because|do tell|"
    r"is that (?:right|correct|so)|am i (?:right|missing|reading)|does that (?:work|make sense|help)",
    words="can't cannot cant couldn't wonder wondering curious any sure certain clear unsure know understand "
    "get see remember recall idea clue anyone anybody someone somebody any1 do does did don't dont doesn't "
    "didn't have has hasn't haven't question asking tell right correct so am that",
)
_INVERTED: Final = re.compile(
    r"(?:^|[.!?;:\n]\s*|,\s+(?:and |but |so |or )?)\W{0,3}(?:(?:so|and|but|ok|okay|hey|hi|hello|well|um|also|"
    r"then|wait|"
    r"btw|or|yo|guys|folks),? ){0,6}(?:is|are|was|were|isn't|aren't|wasn't|am|will|would|can|could|should|"
    r"shall|did|does|do|has|"
    r"have|wont|won't|can't|cant|shouldn't|couldn't|may|must|r) "
    r"(?:it|this|that|the|there|you|u|we|they|i|he|she|anyone|anybody|someone|these|those|our|your|my|a|an|"
    r"any|all|"
    r"everyone|everything|both|staging|prod|production|main|ci|[\w-]+ (?:still|already|ready|down|up|done|"
    r"green|ok|safe|"
    r"supposed|allowed|working|broken|running|merged|deployed|enabled))\b"
)
IMPERATIVE: Final = Phrases(_IMPERATIVE, " ".join(_VERBS).replace("-", " "))
INVERTED: Final = Phrases(
    _INVERTED,
    "is are was were isn't aren't wasn't am will would can could should shall did does do has have wont "
    "won't can't cant "
    "shouldn't couldn't may must r",
)
STRONG: Final = any_of(
    r"(?:can|could|would|will) (?:you|u|someone|anyone)",
    r"please|pls|plz|in advance|let me know|lmk|need|needs|let's|tell me|show me|asap|by (?:eod|tomorrow|"
    r"friday|monday)",
    words="can could would will please pls plz advance let lmk need needs let's tell show asap eod tomorrow "
    "friday monday",
)
"""What keeps asking even beside thanks."""
STATUS: Final = re.compile(
    r"\W*(?:(?:status|update|progress|fyi|heads?[- ]?up|note|info|notice|standup|stand-up|daily|changelog|"
    r"release notes|"
    r"weekly|eod|summary|tl;?dr|psa|for the record|recap|log|eta|done|result|results|ci|cron|bot|"
    r"build bot)\b\s*[:,\-]"
    r"|status (?:update|report)|fyi\b|psa\b|heads?[- ]up\b|just (?:a )?(?:fyi|heads)|please note|note that|"
    r"\[[\w .:/-]+\]"
    r"|\d{4}-\d\d-\d\d[t ]\d\d|\d\d:\d\d:\d\d|(?:info|warn|warning|error|debug|trace|notice)[: \]]"
    r"|(?:✅|❌|🚀|🟢|🔴|⚠️|📦|🔄|⏳)"
    r"|(?:build|deploy|deployment|pipeline|release|job|migration|backup|rollout|rollback|test run|nightly|"
    r"run|import|"
    r"sync|scan|upload|download|restart|ci|sprint|merge|indexing|batch|checkpoint|epoch|export|reindex|"
    r"canary)"
    r"(?: \S+){0,4} (?:passed|failed|succeeded|green|red|finished|complete|completed|started|done|running|ok|"
    r"in progress|"
    r"queued|cancelled|timed out|begun|at \d+|is \d+|reached|live|took|restarted|kicked off|under ?way|"
    r"passing|failing)"
    r"|(?:now |just |successfully |i've |i have |we've |we |i )*(?:merged|deployed|pushed|released|shipped|"
    r"finished|completed|"
    r"started|restarted|rebased|tagged|published|uploaded|migrated|closed|reopened|installed|upgraded|"
    r"rolled back|fixed|"
    r"updated|reverted|committed|rotated|cleaned up|moved|wrapped up|built|created|enabled|disabled|removed|"
    r"refactored|"
    r"bumped|added|landed|renamed|cut|backfilled|posted|sent|reran|wrote|opened|archived|implemented)\b"
    r"|(?:all )?(?:\d+ )?(?:tests?|checks?|specs?|builds?|suites?)(?: are| is)?(?: all| now| still)* (?:pass|"
    r"passed|passing|"
    r"green|fail|failed|failing|red)\b"
    r"|v?\d+(?:\.\d+)+ (?:is )?(?:out|live|released)|(?:pr|mr|issue|ticket|"
    r"#)\W?\d+ (?:is )?(?:now )?(?:merged|closed|done|"
    r"open|opened|landed|approved)|(?:step|phase|stage|part|batch|chunk|shard) \d+ (?:of|/) ?\d+|\d+ ?%|"
    r"\d+/\d+ |\d+ of \d+ "
    r"|(?:still |currently |now |i'm |i am |we're |we are )+(?:working on|running|processing|building|"
    r"testing|deploying|"
    r"rebasing|migrating|waiting for the|compiling|indexing|looking into|investigating|in progress|"
    r"refactoring|"
    r"writing|reviewing|on it since|halfway|about \d+|\d+)"
    r"|done with |working on (?:it|the|this|that)|in progress\b|no (?:blockers|changes|news|updates|"
    r"incidents|issues)"
    r"|(?:cpu|memory|disk|latency|uptime|error rate|queue depth|throughput|p9\d|heartbeat|traffic|load|"
    r"coverage|"
    r"response times?)\b|new (?:version|release|build|commit|pr|deploy) "
    r"|(?:the )?[\w-]+(?: [\w-]+){0,3} (?:is|are|was|were|has been|have been) (?:now |all |fully |already |"
    r"back )*(?:merged|"
    r"deployed|released|shipped|finished|complete|completed|live|done|up|green|fixed|updated|running|healthy|"
    r"online|"
    r"closed|in progress|rolled (?:out|back)|restarted|stable|published|resolved|migrated|rotated)\W*$)"
)
_NAMES: Final = (
    r"(?: (?:man|mate|dude|buddy|all|everyone|everybody|team|folks|guys|friend|sir|boss|y'all|both|bot|"
    r"here|people))?"
)
THANKS: Final = re.compile(
    r"(?:(?:many|huge|big|so much|ok|okay|great|awesome|perfect|cool|oh|ah|wow|nice|and|no|a million|lots of|"
    r"hey|alright|"
    r"yes|yeah|yep|excellent|brilliant|well|again|lovely|super|works|wonderful|fantastic|good|amazing|"
    r"that's it|sweet|once"
    r"|got it|my|a big|a huge|worked|that worked) )*"
    r"(?:thank(?:s| ?you| u|ies)|thankyou|thx|thnx|thanx|thxs|tnx|tks|ty|tysm|tyvm|tyty|cheers|"
    r"much appreciated|"
    r"appreciated|much obliged|gracias|merci|danke|grazie|arigato|obrigado|kudos|props|ta|bless you|"
    r"god bless|🙏|"
    r"(?:i |we |really |very |greatly |much |so |highly )*appreciate(?:d| it| that|"
    r" this| you| the| "
    r"your| all)|you(?:'re| are) (?:a |an |the )?(?:absolute |real |total )?(?:best|star|legend|lifesaver|"
    r"life saver|hero|"
    r"awesome|amazing|great|rock ?star|genius|champ|angel)|(?:really |very |so |i'm |we're )*grateful|"
    r"you rock|you saved (?:me|my day|us|the day)|that (?:really )?"
    r"(?:helped|helps)(?: a lot| so much| me)?|very helpful|super helpful|that was (?:really |very |"
    r"super )?helpful|"
    r"owe you (?:one|a \w+)|i owe you|couldn't have done it without you|lifesaver)"
    r"(?!,? (?:to (?!you|all|everyone|the team|both|whoever)|but|though|no|anyway))"
    r"(?: (?:for|so|a|again|very|kindly|heaps|loads|tons|guys|all|everyone|everybody|team|folks|both|mate|"
    r"man|dude|you|too|as|anyway|indeed|to|the|your|y'all|in)\b.{0,80}| [\w.-]+| [^\w\s]+)?"
)
ACKNOWLEDGED: Final = re.compile(
    r"(?:(?:ok|okay|oh|ah|alright|right|cool|great|yeah|yep|yes|sure|well|perfect|nice|so|and|hm+|all|very|"
    r"aha|awesome|fine|"
    r"good|thats|that's) )*"
    r"(?:ok(?:ay|ie|ey|i|ies)?(?: dokie| doke)?|k+|okk+|alright(?:y)?|all right|right|righto|rightio|"
    r"roger(?: that)?|copy(?: that)?|"
    r"10-?4|got (?:it|that|you|ya|u)|gotcha|gotchu|understood|understand|noted(?: with thanks)?|ack(?:ed)?|"
    r"acknowledged?|"
    r"mak(?:es|ing) (?:total |perfect |complete )?sense|fair(?: enough| point)?|sounds (?:good|great|fine|"
    r"reasonable|perfect|"
    r"like a plan)|sgtm|lgtm|will do|on it|sure(?: thing)?|yep|yup|yeah|ya|yea|agree(?:d)?|i agree|\+1|np|"
    r"no (?:problem|"
    r"problems|worries|prob|stress)|you(?:'re| are)? (?:very |most |always )?welcome|(?:very )?welcome|yw|"
    r"any ?time|(?:oh )?i "
    r"see(?: now| it now)?|works(?: for me)?|wfm|seen|received|read|fine(?: by me| with me)?|good (?:point|"
    r"to know|call|"
    r"catch|stuff|idea)|g2k|true(?: that| enough)?|exactly|indeed|correct|of course|absolutely|definitely|"
    r"certainly|"
    r"understood thanks|looks good(?: to me)?|good|cool(?: cool)?|that works(?: for me)?|it works(?: now)?|"
    r"that (?:did it|solved it|fixed it)|it's fixed(?: now)?|(?:that |it )?worked|done deal|affirmative|aye|"
    r"same(?: here)?|ditto|my pleasure|don't mention it|happy to help|glad (?:to help|it helped|that helped|"
    r"to hear(?: it| "
    r"that)?|i could help)|consider it done|duly noted|that makes sense|all good|all set|we're good|i'm good|"
    r"no need|👍|👌|🆗|"
    r"✅|👀|🫡|will keep (?:that )?in mind|good enough)" + _NAMES
)
_OPENERS: Final = (
    r"(?:(?:oh|ah|ha(?:ha)+|lol|so|very|really|that's|thats|that is|this is|wow|pretty|super|just|well|how|"
    r"such|looks?|"
    r"sounds?|a|it's|its|what a|absolutely|totally|damn|omg|good|great|nice|too) )*"
)
FILLER: Final = re.compile(
    _OPENERS
    + r"(?:lol+|lo+l|lmao+|rofl|ro?tfl|haha+h?|ha+h?|hehe+|heh|hah|xd+|:[-']?[)dp(]+|;[-']?\)|<3|nice(?: one|"
    r" work| job| going| "
    r"catch| find| touch)?|nicely done|neat|sweet|cool(?: stuff| beans)?|wow|whoa|woah|woot|w00t|yay+|hooray|"
    r"woo+(?:hoo+)?|"
    r"great(?: job| work| stuff| news| success)?|awesome(?: work| job| stuff| sauce)?|amazing(?: work| job)?|"
    r"excellent(?: work| "
    r"job)?|perfect(?:ion)?|brilliant|fantastic|wonderful|lovely|beautiful|impressive|good (?:job|work|stuff|"
    r"one|news|night|"
    r"luck|times|going|grief)|well (?:done|played)|way to go|congrats|congratulations|kudos|bravo|gg|gj|epic|"
    r"sick|fire|"
    r"dope|h+m+|mm+|m+h+m+|uh-?huh|oh+|ah+|aha|ooh+(?: fancy)?|fancy|oh well|huh|meh|ugh|oops|whoops|phew|"
    r"yikes|bye(?: bye)?|goodbye|see (?:you|ya)"
    r"(?: later| tomorrow| soon| around)?|cya|later(?:s)?|ttyl|gn|night(?: night)?|brb|afk|bbl|back|"
    r"have a (?:good|great|nice|"
    r"lovely) (?:one|day|evening|weekend|night|trip|time)|enjoy(?: your (?:day|weekend|evening|lunch|"
    r"holiday))?|take care|"
    r"same|this|so true|big if true|mood|classic|fun|funny|interesting|hilarious|crazy|wild|love (?:it|this|"
    r"that)|loving it|"
    r"i love it|take it easy|no way|sad|too bad|bummer|welcome back|happy (?:friday|monday|birthday|new year|"
    r"holidays)|tgif|"
    r"fingers crossed|good times|what a (?:day|week|ride|relief|night)|first|bump|\.+|…+|cheers)" + _NAMES
)
SOCIAL: Final = frozenset(
    (  # noqa: SIM905 - words read best as prose
        "thank thanks thankyou thankies thx thnx thanx thxs tnx tks ty tysm tyvm tyty cheers appreciated "
        "appreciate obliged "
        "gracias merci danke grazie arigato obrigado kudos props ta bless best star legend lifesaver saver "
        "hero awesome "
        "amazing great rockstar genius champ angel rock saved helped helps helpful owe couldn't ok okay okie "
        "okies okey oki "
        "okk okkk k kk kkk alright alrighty right righto rightio roger copy 10 104 got gotcha gotchu "
        "understood understand "
        "noted ack acked acknowledge acknowledged makes making fair sounds sgtm lgtm will on sure yep yup "
        "yeah ya yea agree "
        "agreed 1 np no welcome yw anytime any see works wfm seen received read fine good g2k true exactly "
        "indeed correct "
        "course absolutely definitely certainly looks cool that it done affirmative aye same ditto pleasure "
        "don't happy glad "
        "consider duly all we're i'm lol lool lmao rofl rotfl rtfl heh hah d p 3 nice nicely neat sweet wow "
        "whoa woah woot "
        "w00t hooray excellent perfect perfection brilliant fantastic wonderful lovely beautiful impressive "
        "well way congrats "
        "congratulations bravo gg gj epic sick fire dope uh huh uhhuh meh ugh oops whoops phew yikes bye "
        "goodbye cya later laters "
        "ttyl gn night brb afk bbl back have enjoy take this so big mood classic fun funny interesting "
        "hilarious crazy wild "
        "love loving i sad too bummer tgif fingers what first bump that's thats oh aha you you're hm mm "
        "fancy grateful it's"
    ).split()
)
"""Words of which every thanks, receipt or filler holds at least one, apart from drawn-out sounds."""
DRAWN_OUT: Final = re.compile(
    rf"\W*{_OPENERS}"
    r"(?:l+o+l|lmao|ha|he(?:he)+|xd|h+m+|m+h+m+|mm|o+h|a+h|wo+|ya+y|k+\b|ok|\W|\.|…|❤|✅|👍|👌|🙏|🆗|👀|🫡)"
)
"""How such a sound opens a text; the words above cannot list every length of it."""
