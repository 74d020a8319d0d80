"""Phrases: the words by which people ask, thank, report and leave (C2A-054, C2A-067).

Only patterns, each for lower-case prose without names. What they add up to is for `intent`.
"""

from __future__ import annotations

import re
from typing import Final


class Phrases:
    """A pattern, and words of which every match holds at least one: without them the pattern is not even tried."""

    __slots__ = ("pattern", "words")

    def __init__(self, pattern: re.Pattern[str], words: str) -> None:
        self.pattern = pattern
        self.words = frozenset(words.split())

    def found(self, text: str, words: set[str]) -> bool:
        """Does the text, made of these words, hold one of the phrases?"""
        return not self.words.isdisjoint(words) and self.pattern.search(text) is not None


def _any(*parts: str, words: str, start: str = r"(?<![\w'])", end: str = r"(?![\w])") -> Phrases:
    return Phrases(re.compile(f"{start}(?:{'|'.join(parts)}){end}"), words)


_YOU: Final = r"(?:you|u|ya|y'all|someone|somebody|some1|anyone|anybody|any1|one of you|any of you|we)"
_PLACE: Final = r"(?:channel|thread|room|conversation|convo|chat|group|discussion)"
_NOT_I: Final = r"(?<!i )(?<!i'll )(?<!we )(?<!we'll )(?<!he )(?<!she )(?<!they )(?<!to )(?<!will )(?<!not )(?<!don't )(?<!dont )(?<!who )(?<!people )(?<!i'd )(?<!never )(?<!should )"

LEAVE: Final = _any(
    rf"{_NOT_I}(?:leave|exit|quit|get out of|step out of|stay out of|keep out of|drop out of|bow out of) "
    rf"(?:(?:this|the|our|that|from this) )?(?:[\w-]+ )?{_PLACE}(?! (?:open|as|alone|for|unlocked|on|up|running|history|"
    r"settings|topic|name))",
    r"(?:asked?|asking|want|need|like|tell(?:ing)?|told) you to (?:please )?leave(?! (?:it|a|the|an|that|me|them|"
    r"this(?! (?:channel|thread|room|chat))))",
    r"(?:please|pls|kindly|can you|could you|would you|you can|you may|you should|time to|just) (?:please |now )?"
    r"leave(?: us(?: alone)?| now| please| here)?(?=[.!?,\n]|$| now| please| us)",
    r"leave us alone|leave us be|go away|you(?:'re| are) dismissed|remove yourself|mute yourself|excuse yourself",
    r"stop (?:replying|posting|responding|participating|answering|commenting|chiming in|writing|talking|messaging)"
    r"(?: (?:in|to|on) (?:this|the|our|here)| here| now| us| everywhere|$)",
    r"(?:we )?(?:do not|don't|dont|no longer) need you (?:here|in this|in the|in here|any ?more|on this thread)",
    r"you(?:'re| are) (?:not|no longer) (?:needed|wanted|welcome) (?:here|in this|in here|any ?more)",
    r"you(?:'re| are) free to (?:go|leave)|that's all,? you can go|see yourself out|butt out|out of this one please",
    r"stay (?:out of (?:this|it)|quiet (?:in|from)|silent (?:in|from))|bow out|be quiet (?:in|here)",
    words="leave exit quit out away dismissed yourself stop need needed wanted welcome free go quiet silent",
)
LEAVE_ALONE: Final = re.compile(r"\W*(?:please )?leave(?: please| now)?\W*\Z")

CANCEL: Final = _any(
    r"(?:please )?(?:stop|abort|halt|cancel)(?:(?: (?:it|that|this|everything|the|all|any|what|your|working|now|right|"
    r"deploying|running|immediately|please|my|whatever)\b)|[\s!.]*$)",
    r"never ?mind|scratch that|forget (?:it|that|about (?:it|that|the))|disregard|call it off|hold off|hold on,? "
    r"(?:don't|do not)|kill (?:it|that|the (?:job|run|deploy|build|process))|stand down|belay that",
    r"(?:please )?(?:don't|dont|do not) (?:deploy|merge|push|run|send|start|ship|release|delete|touch|do (?:it|that|"
    r"anything)|continue|proceed|go ahead|publish|restart|apply|post|commit)",
    start=r"(?:^|[.!?,;\n]\s*|(?:(?:oh|ok|no|wait|sorry|actually|hey|please|and|but|so|then|just|lead),? ))",
    words="stop abort halt cancel never nevermind mind scratch forget disregard call hold kill stand belay don't dont not",
)

SAFETY: Final = _any(
    r"(?:leaked|exposed|compromised|stolen) (?:the |our |my |a |an )?(?:key|keys|token|tokens|password|passwords|"
    r"credential|credentials|secret|secrets|data)",
    r"(?:key|keys|token|tokens|password|passwords|credentials|secrets?) (?:(?:was|were|is|are|has been|have been|got|"
    r"just) )*(?:leaked|exposed|compromised|stolen|public)",
    r"security (?:incident|breach)|data (?:breach|loss|leak)|we(?:'ve| have) been hacked|emergency|wiping (?:the|our) "
    r"(?:database|disk|data)",
    words="leaked exposed compromised stolen public breach incident loss leak hacked emergency wiping",
)

_GO: Final = r"(?:merge|deploy|ship|release|proceed|go ahead|go|push|start|publish|roll out|close|delete|continue|land|cut)"
APPROVAL: Final = _any(
    r"(?:can|could|would|will|may|might) (?:you|u|someone|somebody|anyone|i get you to) (?:please |pls |quickly |also "
    r"|just )*(?:approve|sign[- ]?off|ok|okay|green-?light|lgtm|stamp|bless|authori[sz]e|confirm)",
    r"(?:please|pls|plz|kindly) (?:approve|sign[- ]?off|confirm|authori[sz]e|ok (?:this|it|the)|green-?light|stamp)",
    r"(?:need|needs|needing|want|awaiting|await|pending|require|requires|requesting|waiting (?:for|on)|asking for|"
    r"get|have|missing|without|seek|seeking) (?:on )?(?:your |an? |the |final |some |his |her |one more |someone's )*"
    r"(?:approval|approvals|sign[- ]?off|go-?ahead|green light|blessing|permission|authori[sz]ation|ok(?:ay)? (?:on|to|"
    r"for|before))",
    r"(?:ok|okay|fine|good|safe|ready|cool|alright) (?:for me |with you )?(?:to|if (?:i|we)) (?:just )?"
    + _GO,
    rf"(?:may|can|should|shall|could) (?:i|we) (?:now |please |just |already |then )?{_GO}(?! (?:with|about|from) )",
    r"(?:are|is|r) (?:you|u|everyone|it) (?:all )?(?:ok|okay|fine|happy|good|alright|cool) (?:with|if|for me to|to)",
    r"permission to|do (?:you|we) approve|approve\?|approval (?:needed|required|please|pls)|approved\?",
    r"(?:good|cleared) to go\?|do i have (?:your|the) (?:ok|go-?ahead|approval|blessing)|your call(?: on| whether)?",
    r"up for (?:your )?approval|for your approval|approve or (?:reject|decline|deny)|yes or no on",
    words="approve approved approval approvals sign signoff ok okay green greenlight lgtm stamp bless blessing authorise authorize authorisation authorization confirm permission go goahead ahead merge deploy ship release proceed push start publish roll close delete continue land cut happy fine good alright cool call yes",
)
APPROVE_FIRST: Final = re.compile(r"\W*(?:approve|sign off on|green-?light|authori[sz]e) \w")

BLOCKER: Final = _any(
    r"(?<!un)(?<!not )(?<!no longer )(?<!isn't )(?<!aren't )(?<!without )block(?:ed|ing)(?= (?:on|by|until|me|us|the|my|"
    r"our|everyone|everything|release|here|at|since|from|because|all|deploy|now|for)|[\s.!,]*$|[.!,])",
    r"(?:is|am|are|'m|'re|i'm|we're|got|totally|completely|still|now) (?:a )?(?:blocker|blocked|stuck)",
    r"(?<!no )(?<!any )(?<!not a )blockers?(?= (?:for|on|is|:|here|from)|:)",
    r"(?:can't|cannot|can not|cant|couldn't|unable to) (?:proceed|continue|go on|move (?:on|forward)|make progress|"
    r"get any further|work until|start until|do anything)",
    r"(?:waiting|wait) (?:on|for) (?:you|your|u)(?! guys to enjoy)",
    r"(?:holding|held) (?:us|me|everything|everyone|it|things|the release|this) (?:all )?up|held up (?:by|on|until)",
    r"show-?stopper|(?:prod|production|site|server|service|api|database|db|staging|main|master|ci|cluster|website|"
    r"checkout|login|everything|gateway|the app) (?:is|are|went|seems?|has gone) (?:completely |totally )?(?:down|broken|dead|"
    r"unreachable|on fire|offline|hosed)",
    r"(?:outage|sev ?[012]|p0|incident)(?= (?:in|on|at|for|right|is|open|ongoing|declared)|[:!])|"
    r"(?:broke|breaking|has broken|have broken) (?:prod|production|main|master|the (?:build|"
    r"release|site|pipeline|deploy))",
    r"nothing works|stuck (?:on|at|with|here|until|because|waiting)|dead in the water|need(?:s)? unblocking|"
    r"unblock (?:me|us|the|this)",
    words="blocked blocking blocker blockers stuck proceed continue go move progress further until anything waiting wait up showstopper show stopper down broken dead unreachable fire offline hosed outage sev sev0 sev1 sev2 p0 incident broke breaking nothing water unblocking unblock",
)

ASSIGNMENT: Final = _any(
    r"(?:i'm |i am |i've |i have |we |i |we've |we're )?assign(?:ing|ed)? (?:this |it |that |the |these |ticket |issue |"
    r"you |#|both |all |those )",
    r"assigned (?:this )?to you|assigned you",
    r"(?:this|that|the next|the other|next) (?:one|ticket|issue|bug|task)(?: is|'s) (?:all )?yours|is yours(?: now)?|"
    r"yours now|all yours|over to you|you're up|your turn|tag,? you're it|your task|your job (?:is|now|for)",
    r"(?:i|we) (?:need|want|would like|'d like) you to|i'd like you to|we'd like you to",
    r"(?:please |pls |can you |could you |will you |would you |i'd say you |you should |you can |you )"
    r"(?:please )?(?:take (?:over|care of|on|ownership|charge|this|that|the|it|issue|ticket|#|point)|own (?:this|the|that|"
    r"it)|pick (?:up|this up|that up|it up)|handle|lead the|drive (?:the|this))",
    r"hand(?:ing|ed)? (?:this |it |that |the [\w-]+ )?(?:over|off) to you|delegat(?:e|ing|ed) (?:this|it|that|the)",
    r"you(?:'re| are|'ll be| will be) (?:now )?(?:responsible|in charge|on (?:the hook|point|call|duty|the|this)|the "
    r"(?:owner|lead|dri))|you own (?:this|the|it)|you (?:get|got|have) the",
    r"(?:put|putting) you (?:down )?(?:on|in charge)|take (?:this|that) one|on your plate|new task for you|task for you|"
    r"here's your (?:next )?(?:task|assignment)|your next (?:task|assignment|job)",
    words="assign assigning assigned you your yours you're you'll please pls take delegate delegating delegated",
)

REQUEST: Final = _any(
    rf"(?:can|could|would|will|won't|wouldn't|cud|couldnt|couldn't|might|cld) {_YOU}(?! (?:believe|imagine|see the|look "
    r"at that))",
    r"(?<!yes )(?:please|pls|plz|plsss?|pleeease)(?! (?:note|be aware|find (?:attached|the)))|kindly",
    r"let (?:me|us) know|lmk|make sure|be sure to|be so kind|see to it|see if you can|tell me|show me|give me|"
    r"send me|help (?:me|us)(?! a lot)|remind (?:me|us)|ping (?:me|us)|walk me through|keep (?:me|us) (?:posted|updated)|"
    r"get back to (?:me|us)",
    r"(?:i|we|you|someone|somebody|it|this|that|team) (?:really |still |just |also |only |might |may |will |do )?"
    r"(?:need|needs|require|want|wants)(?! (?:to (?:leave|go|sleep|eat)|no |not ))(?= (?:you|someone|somebody|help|a |an "
    r"|some|the|more|this|that|to be|another|it|your|eyes|review|fixing|two|one|new|logs|access|input))",
    r"needs? (?:to be|fixing|a (?:review|look|fix|rebase|second)|reviewing|your (?:input|attention|help|review|eyes)|"
    r"someone to|somebody to|attention|looking)",
    r"(?:would|i'd|we'd|it'd) (?:really |also |be )*(?:love|appreciate|great|good|nice|helpful|lovely|awesome|"
    r"wonderful|cool)(?: it)? (?:if|to (?:have|get|see)|a )",
    r"(?:do you|would you|d'you|don't you|u) mind|mind (?:checking|looking|taking|having|doing|running|sending|"
    r"re-?running|reviewing|sharing|pasting|posting|giving|if)|do me a favou?r|quick favou?r|favou?r to ask",
    r"(?:don't|do not|dont) forget (?:to|the)|remember to|feel free to|you (?:should|need to|have to|must|ought to|"
    r"gotta|might want to|may want to|can (?:now |go |start|also |just |try|use))",
    r"we (?:should|need to|have to|must|gotta|ought to)(?! have)|let's|lets (?!you|me|us|it|them)|how about (?:we|you)|"
    r"why (?:don't|not) (?:you|we)",
    r"(?:thanks|thank you|thx|cheers|ty) in advance|in advance thanks|todo|to-do|action item|asap|by (?:eod|eow|cob|"
    r"tomorrow|tonight|friday|monday|noon)|looking for (?:someone|somebody|help|a (?:volunteer|reviewer))|"
    r"requesting|request for|wanted:|volunteers?(?: needed|\?)|any (?:takers|volunteers)|who(?:'s| is) up for",
    r"go ahead|go for it|ship it|do it|try (?:again|it|that|this|now|the|with)|give (?:it|this|that) (?:a|another) "
    r"(?:try|go|shot|spin|look|read|once-over)|have a (?:look|go)|take a (?:look|stab|peek)|give (?:me|us) a (?:hand|shout|"
    r"ping)|your (?:thoughts|opinion|input|help|feedback|review) (?:on|would|is|are|here)|thoughts(?: on)?\?|ptal|rfc",
    r"(?:supposed|expected) to (?:do|fix|send|review)|i'm (?:asking|requesting)|want(?:s)? (?:you|me|us) to|hoping (?:you|"
    r"someone|somebody)|hope you can|appreciate (?:any|some|your) (?:help|pointers|input|hints|tips|advice)|any (?:help|"
    r"pointers|hints|tips|advice) (?:is|are|would|appreciated|welcome)",
    words="can could would will won't wouldn't cud couldnt couldn't might cld please pls plz plss plsss pleeease kindly let lmk make be kind see tell show give send help remind ping walk keep get need needs require want wants i'd it'd we'd mind favour favor forget remember feel should must gotta have ought may let's lets how why advance todo do action asap eod eow cob tomorrow tonight friday monday noon looking requesting request wanted volunteer volunteers takers who's who go ship try take thoughts opinion input feedback review ptal rfc supposed expected asking hoping hope appreciate any your you",
)

_VERBS: Final = (
    "add adjust alert analyse analyze announce answer append apply archive ask attach audit back backport bake "
    "benchmark bisect book bring build bump bundle call capture change check chase choose clarify clean clear clone "
    "close collect combine comment commit compare compile complete configure confirm connect consider contact convert "
    "copy correct create cut debug decide define delete demo deploy describe design detail determine diagnose diff "
    "disable discuss do document double-check download draft draw drop dump edit email enable ensure escalate estimate "
    "evaluate examine execute expand explain export extend extract fetch figure file fill filter find finish fix flag "
    "follow format forward generate get give grab grep handle have help hide identify ignore implement import improve "
    "include increase inform insert inspect install investigate invite isolate join keep kick kill launch link list "
    "load lock log look lower maintain make map mark measure mention merge migrate mock monitor mount move mute name "
    "note notify obtain open optimise optimize order organise organize outline package paste patch pause pick pin ping "
    "pipe plan point poll port post postpone prefer prepare present prevent print prioritise prioritize produce profile "
    "propose prove provide publish pull purge push put query quote raise re-check re-run re-test read reassign rebase "
    "reboot rebuild recheck recommend record redeploy redirect redo reduce refactor refresh regenerate register reject "
    "release reload remind remove rename render reopen replace reply report repro reproduce rerun research reset resend "
    "resolve respond restart restore resume retest retry return revert review revise revoke rewrite roll rotate run save "
    "scale scan schedule search secure see select send separate serve set setup share ship show shut sign simplify skip "
    "solve sort specify spin split squash stage start stash state stick submit suggest summarise summarize suspend swap "
    "switch sync tag take talk tell terminate test tidy toggle trace track transfer translate trigger trim try tune turn "
    "tweak uninstall unlock unpin update upgrade upload use validate verify wait wake walk warn watch wire work wrap "
    "write zip"
).split()
_IMPERATIVE: Final = re.compile(
    r"(?:^|[.!?;:\n]\s*|,\s*(?:and |then |now |also |so |but )?|\b(?:and|then|also|but|so) (?:then |also |now )?)\W{0,3}"
    r"(?:(?:hey|hi|ok|okay|so|now|then|just|also|and|next|first|instead|quickly|yes|no|sure|great|cool|right|perfect|"
    r"alright|always|never|actually|maybe|well|good|nice|oh|again),? )*"
    rf"(?:{'|'.join(map(re.escape, _VERBS))})"
    r"(?= (?:the|a|an|this|that|these|those|it|me|us|my|your|our|their|his|her|its|all|any|each|every|some|both|what|"
    r"which|where|who|why|how|when|if|whether|out|up|down|off|on|in|into|over|back|through|with|for|from|to|at|by|about|"
    r"again|one|two|three|five|ten|everything|everyone|them|him|only|more|no|another|after|before|against|and|or|there|"
    r"here|now|please|using|via|under|between|behind|as|until|just|twice|once|\d|#|pr\b|ci\b|issue|ticket|v\d|"
    r"[`\"'/.\-_]|[\w.-]*[/_.\d-]\w|[\w-]+s\b|[\w-]+ (?:to|for|in|on|from|with|and|into|again|before|after|until|back|by|"
    r"first|instead|once)\b))"
)

QUESTION: Final = _any(
    r"(?:what|whats|what's|when|when's|where|where's|wheres|who|who's|whos|why|why's|which|how|how's|hows|whose) "
    r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|am|the|a|about|come|much|many|long|often|"
    r"far|about|exactly|else|if|to|version|branch|port|time|one|kind|happened|happens|changed|broke|owns|knows|wrote|"
    r"went|gives|makes|made|causes|caused|on earth|u|you|we|i|r|s|of|file|command|error|wants|has|took|took|this|"
    r"that|your|our|my|tests?|steps?|part|team|day)",
    start=r"(?:^|[.!?;:,\n]\s*|(?<!\w)(?:so|and|but|ok|okay|hey|hi|hello|well|um|uh|hmm|also|then|wait|btw|or|guys|folks|"
    r"all|anyone|please|exactly|sorry|yeah|yes|no|oh|thanks|question),? )",
    words="what whats what's when when's where where's wheres who who's whos why why's which how how's hows whose",
)
EXCLAIMED: Final = re.compile(
    r"(?:^|[.!?,;\n] ?)(?:what an? (?:\w+ ){0,3}\w+[!.]*$|how (?:\w+ )?(?:nice|cool|lovely|great|sweet|fun|kind)\b)"
)
SUBORDINATE: Final = re.compile(
    r"^(?:when|where|whichever|how|what|which|who) [^?]*, (?:i|we|it|the|then|that)\b[^?]*$"
)
ASKING: Final = _any(
    r"(?:i )?wonder(?:ing)?(?: (?:if|whether|how|why|what|when|where|who|which|about))|curious (?:if|whether|how|why|what|"
    r"about|to know)|any (?:idea|ideas|clue|news|updates?|luck|progress|eta|thoughts|word|chance|reason|way|opinion|"
    r"objections?|concerns?|suggestions?|preference|recommendations?|pointers|hints?|feedback)(?! (?:yet )?(?:from me|is"
    r"|are) (?:fine|welcome))",
    r"(?:not|isn't|aren't|i'm not|wasn't) (?:quite |really |entirely |100% )?(?:sure|certain|clear) (?:if|whether|how|why|"
    r"what|which|where|who|when|about)|unsure (?:if|whether|how|why|what|which|where|about)|"
    r"(?:don't|dont|do not|didn't|doesn't) (?:really |quite )?(?:know|understand|get|see|remember|recall) (?:if|whether|how|"
    r"why|what|which|where|who|when)|no (?:idea|clue) (?:if|whether|how|why|what|which|where|who|when)",
    r"(?:anyone|anybody|someone|somebody|any1|has anyone|does anyone|did anyone|is anyone|anyone else) (?:here |else |know|"
    r"knows|seen|see|seeing|have|has|had|having|tried|able|around|using|use|used|got|up for|free|available|familiar|"
    r"remember|run|hit|aware|looking|working|can|object|who|want|willing|experienced|notice)",
    r"(?:do|does|did|don't|doesn't|didn't) (?:you|u|we|they|it|this|that|the|anyone|anybody|i|he|she|ya|your|our) (?!not)",
    r"(?:have|has|hasn't|haven't) (?:you|u|we|they|it|this|that|the|anyone|anybody|ya) ",
    r"(?:got|have) a (?:quick )?question|quick question|question (?:about|for|on|re|regarding)|asking because|do tell|"
    r"is that (?:right|correct|so)|am i (?:right|missing|reading)|does that (?:work|make sense|help)",
    words="wonder wondering curious any sure certain clear unsure know understand get see remember recall idea clue anyone anybody someone somebody any1 do does did don't dont doesn't didn't have has hasn't haven't question asking tell right correct so am that",
)
_INVERTED: Final = re.compile(
    r"(?:^|[.!?;:\n]\s*|,\s+(?:and |but |so |or )?)\W{0,3}(?:(?:so|and|but|ok|okay|hey|hi|hello|well|um|also|then|wait|"
    r"btw|or|yo|guys|folks),? )*(?:is|are|was|were|isn't|aren't|wasn't|am|will|would|can|could|should|shall|did|does|do|has|"
    r"have|wont|won't|can't|cant|shouldn't|couldn't|may|must|r) "
    r"(?:it|this|that|the|there|you|u|we|they|i|he|she|anyone|anybody|someone|these|those|our|your|my|a|an|any|all|"
    r"everyone|everything|both|staging|prod|production|main|ci|[\w-]+ (?:still|already|ready|down|up|done|green|ok|safe|"
    r"supposed|allowed|working|broken|running|merged|deployed|enabled))\b"
)

STATUS: Final = re.compile(
    r"\W*(?:(?:status|update|progress|fyi|heads?[- ]?up|note|info|notice|standup|stand-up|daily|changelog|release notes|"
    r"weekly|eod|summary|tl;?dr|psa|for the record|recap|log|eta|done|result|results|ci|cron|bot|build bot)\b\s*[:,\-]"
    r"|status (?:update|report)|fyi\b|psa\b|heads?[- ]up\b|just (?:a )?(?:fyi|heads)|please note|note that|\[[\w .:/-]+\]"
    r"|\d{4}-\d\d-\d\d[t ]\d\d|\d\d:\d\d:\d\d|(?:info|warn|warning|error|debug|trace|notice)[: \]]"
    r"|(?:✅|❌|🚀|🟢|🔴|⚠️|📦|🔄|⏳)"
    r"|(?:build|deploy|deployment|pipeline|release|job|migration|backup|rollout|rollback|test run|nightly|run|import|"
    r"sync|scan|upload|download|restart|ci|sprint|merge|indexing|batch|checkpoint|epoch|export|reindex|canary)"
    r"(?: \S+){0,4} (?:passed|failed|succeeded|green|red|finished|complete|completed|started|done|running|ok|in progress|"
    r"queued|cancelled|timed out|begun|at \d+|is \d+|reached|live|took|restarted|kicked off|under ?way|passing|failing)"
    r"|(?:now |just |successfully |i've |i have |we've |we |i )*(?:merged|deployed|pushed|released|shipped|finished|completed|"
    r"started|restarted|rebased|tagged|published|uploaded|migrated|closed|reopened|installed|upgraded|rolled back|fixed|"
    r"updated|reverted|committed|rotated|cleaned up|moved|wrapped up|built|created|enabled|disabled|removed|refactored|"
    r"bumped|added|landed|renamed|cut|backfilled|posted|sent|reran|wrote|opened|archived|implemented)\b"
    r"|(?:all )?(?:\d+ )?(?:tests?|checks?|specs?|builds?|suites?)(?: are| is)?(?: all| now| still)* (?:pass|passed|passing|"
    r"green|fail|failed|failing|red)\b"
    r"|(?:step|phase|stage|part|batch|chunk|shard) \d+ (?:of|/) ?\d+|\d+ ?%|\d+/\d+ |\d+ of \d+ "
    r"|(?:still |currently |now |i'm |i am |we're |we are )+(?:working on|running|processing|building|testing|deploying|"
    r"rebasing|migrating|waiting for the|compiling|indexing|looking into|investigating|in progress|refactoring|"
    r"writing|reviewing|on it since|halfway|about \d+|\d+)"
    r"|working on (?:it|the|this|that)|in progress\b|no (?:blockers|changes|news|updates|incidents|issues)"
    r"|(?:cpu|memory|disk|latency|uptime|error rate|queue depth|throughput|p9\d|heartbeat|traffic|load|coverage|"
    r"response times?)\b|new (?:version|release|build|commit|pr|deploy) "
    r"|(?:the )?[\w-]+(?: [\w-]+){0,3} (?:is|are|was|were|has been|have been) (?:now |all |fully |already |back )*(?:merged|"
    r"deployed|released|shipped|finished|complete|completed|live|done|up|green|fixed|updated|running|healthy|online|"
    r"closed|in progress|rolled (?:out|back)|restarted|stable|published|resolved|migrated|rotated)\W*$)"
)

_NAMES: Final = r"(?: (?:man|mate|dude|buddy|all|everyone|everybody|team|folks|guys|friend|sir|boss|y'all|both|bot|here|people))?"
IMPERATIVE: Final = Phrases(_IMPERATIVE, " ".join(_VERBS).replace("-", " "))
INVERTED: Final = Phrases(
    _INVERTED,
    "is are was were isn't aren't wasn't am will would can could should shall did does do has have wont won't can't cant "
    "shouldn't couldn't may must r",
)
THANKS: Final = re.compile(
    r"(?:(?:many|huge|big|so much|ok|okay|great|awesome|perfect|cool|oh|ah|wow|nice|and|no|a million|lots of|hey|alright|"
    r"yes|yeah|yep|excellent|brilliant|well|again|lovely|super|works|wonderful|fantastic|good|amazing|that's it|sweet|once"
    r"|got it|my|a big|a huge|worked|that worked) )*"
    r"(?:thank(?:s| ?you| u|ies)|thankyou|thx|thnx|thanx|thxs|tnx|tks|ty|tysm|tyvm|tyty|cheers|much appreciated|"
    r"appreciated|much obliged|gracias|merci|danke|grazie|arigato|obrigado|kudos|props|ta|bless you|god bless|🙏|"
    r"(?:i |we |really |very |i really |we really |greatly |much |so |highly )*appreciate(?:d| it| that| this| you| the| "
    r"your| all)|you(?:'re| are) (?:a |an |the )?(?:absolute |real |total )?(?:best|star|legend|lifesaver|life saver|hero|"
    r"awesome|amazing|great|rock ?star|genius|champ|angel)|you rock|you saved (?:me|my day|us|the day)|that (?:really )?"
    r"(?:helped|helps)(?: a lot| so much| me)?|very helpful|super helpful|that was (?:really |very |super )?helpful|"
    r"owe you (?:one|a \w+)|i owe you|couldn't have done it without you|lifesaver)"
    r"(?!,? (?:to (?!you|all|everyone|the team|both|whoever)|but|though|no|anyway))"
    r"(?: .{0,80})?"
)
ACKNOWLEDGED: Final = re.compile(
    r"(?:(?:ok|okay|oh|ah|alright|right|cool|great|yeah|yep|yes|sure|well|perfect|nice|so|and|hm+|all|very|aha|awesome|fine|"
    r"good|thats|that's) )*"
    r"(?:ok(?:ay|ie|ey|i|ies)?(?: dokie| doke)?|k+|okk+|alright(?:y)?|all right|right|righto|rightio|roger(?: that)?|copy(?: that)?|"
    r"10-?4|got (?:it|that|you|ya|u)|gotcha|gotchu|understood|understand|noted(?: with thanks)?|ack(?:ed)?|acknowledged?|"
    r"mak(?:es|ing) (?:total |perfect |complete )?sense|fair(?: enough| point)?|sounds (?:good|great|fine|reasonable|perfect|"
    r"like a plan)|sgtm|lgtm|will do|on it|sure(?: thing)?|yep|yup|yeah|ya|yea|agree(?:d)?|i agree|\+1|np|no (?:problem|"
    r"problems|worries|prob|stress)|you(?:'re| are)? (?:very |most |always )?welcome|(?:very )?welcome|yw|any ?time|(?:oh )?i "
    r"see(?: now| it now)?|works(?: for me)?|wfm|seen|received|read|fine(?: by me| with me)?|good (?:point|to know|call|"
    r"catch|stuff|idea)|g2k|true(?: that| enough)?|exactly|indeed|correct|of course|absolutely|definitely|certainly|"
    r"understood thanks|looks good(?: to me)?|good|cool(?: cool)?|that works(?: for me)?|it works(?: now)?|that did it|done deal|affirmative|aye|"
    r"same(?: here)?|ditto|my pleasure|don't mention it|happy to help|glad (?:to help|it helped|that helped|to hear(?: it| "
    r"that)?|i could help)|consider it done|duly noted|that makes sense|all good|all set|we're good|i'm good|no need|👍|👌|🆗|"
    r"✅|👀|🫡|will keep (?:that )?in mind|good enough)" + _NAMES
)
FILLER: Final = re.compile(
    r"(?:(?:oh|ah|haha|lol|so|very|really|that's|thats|that is|this is|wow|pretty|super|just|well|how|such|looks?|"
    r"sounds?|a|it's|its|what a|absolutely|totally|damn|omg|good|great|nice|too) )*"
    r"(?:lol+|lo+l|lmao+|rofl|ro?tfl|haha+h?|ha+h?|hehe+|heh|hah|xd+|:[-']?[)dp(]+|;[-']?\)|<3|nice(?: one| work| job| going| "
    r"catch| find| touch)?|nicely done|neat|sweet|cool(?: stuff| beans)?|wow|whoa|woah|woot|w00t|yay+|hooray|woo+(?:hoo+)?|"
    r"great(?: job| work| stuff| news| success)?|awesome(?: work| job| stuff| sauce)?|amazing(?: work| job)?|excellent(?: work| "
    r"job)?|perfect(?:ion)?|brilliant|fantastic|wonderful|lovely|beautiful|impressive|good (?:job|work|stuff|one|news|night|"
    r"luck|times|going|grief)|well (?:done|played)|way to go|congrats|congratulations|kudos|bravo|gg|gj|epic|sick|fire|"
    r"dope|h+m+|mm+|m+h+m+|uh-?huh|oh+|ah+|aha|ooh+|huh|meh|ugh|oops|whoops|phew|yikes|bye(?: bye)?|goodbye|see (?:you|ya)"
    r"(?: later| tomorrow| soon| around)?|cya|later(?:s)?|ttyl|gn|night(?: night)?|brb|afk|bbl|back|have a (?:good|great|nice|"
    r"lovely) (?:one|day|evening|weekend|night|trip|time)|enjoy(?: your (?:day|weekend|evening|lunch|holiday))?|take care|"
    r"same|this|so true|big if true|mood|classic|fun|funny|interesting|hilarious|crazy|wild|love (?:it|this|that)|loving it|"
    r"i love it|take it easy|no way|sad|too bad|bummer|welcome back|happy (?:friday|monday|birthday|new year|holidays)|tgif|"
    r"fingers crossed|good times|what a (?:day|week|ride|relief|night)|first|bump|\.+|…+|cheers)" + _NAMES
)

STRONG: Final = _any(
    r"(?:can|could|would|will) (?:you|u|someone|anyone)",
    r"please|pls|plz|in advance|let me know|lmk|need|needs|let's|tell me|show me|asap|by (?:eod|tomorrow|friday|monday)",
    words="can could would will please pls plz advance let lmk need needs let's tell show asap eod tomorrow friday monday",
)
"""What keeps asking even beside thanks."""

SOCIAL: Final = frozenset(
    (
        "thank thanks thankyou thankies thx thnx thanx thxs tnx tks ty tysm tyvm tyty cheers appreciated appreciate obliged "
        "gracias merci danke grazie arigato obrigado kudos props ta bless best star legend lifesaver saver hero awesome "
        "amazing great rockstar genius champ angel rock saved helped helps helpful owe couldn't ok okay okie okies okey oki "
        "okk okkk k kk kkk alright alrighty right righto rightio roger copy 10 104 got gotcha gotchu understood understand "
        "noted ack acked acknowledge acknowledged makes making fair sounds sgtm lgtm will on sure yep yup yeah ya yea agree "
        "agreed 1 np no welcome yw anytime any see works wfm seen received read fine good g2k true exactly indeed correct "
        "course absolutely definitely certainly looks cool that it done affirmative aye same ditto pleasure don't happy glad "
        "consider duly all we're i'm lol lool lmao rofl rotfl rtfl heh hah d p 3 nice nicely neat sweet wow whoa woah woot "
        "w00t hooray excellent perfect perfection brilliant fantastic wonderful lovely beautiful impressive well way congrats "
        "congratulations bravo gg gj epic sick fire dope uh huh meh ugh oops whoops phew yikes bye goodbye cya later laters "
        "ttyl gn night brb afk bbl back have enjoy take this so big mood classic fun funny interesting hilarious crazy wild "
        "love loving i sad too bummer tgif fingers what first bump that's thats oh aha you you're hm mm"
    ).split()
)
"""Words of which every thanks, receipt or filler holds at least one, apart from drawn-out sounds."""
DRAWN_OUT: Final = re.compile(r"(.)\1\1|ha+h?|he(?:he)+|xd+|h+m+|m+h+m+|mm+|o+h+|a+h+|lo+l+|woo+|yay+|k+")
