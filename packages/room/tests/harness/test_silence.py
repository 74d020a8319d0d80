"""The many ways in which models say that they say nothing, and what only looks like them."""

from __future__ import annotations

import pytest

from tacit.harness.silence import is_silence, said

SILENT = [
    "",
    "   \n ",
    "NO_REPLY",
    "NO_REPLY.",
    "no_reply",
    "No reply",
    "no reply.",
    "NO REPLY",
    "NOREPLY",
    "NO-REPLY",
    "`NO_REPLY`",
    "**NO_REPLY**",
    '"NO_REPLY"',
    "[NO_REPLY]",
    "<NO_REPLY>",
    "<no_reply/>",
    "```\nNO_REPLY\n```",
    "```text\nno reply\n```",
    "NO_RESPONSE",
    "No response",
    "(no response)",
    "(No response.)",
    "[no response needed]",
    "*no response*",
    "No reply needed",
    "No reply needed.",
    "No reply is needed.",
    "No response needed.",
    "No response is necessary here.",
    "No further response required.",
    "No reply required from me.",
    "There is no reply needed at this time.",
    "No reply needed from my side.",
    "[silence]",
    "(silence)",
    "*silence*",
    "Silence.",
    "SILENT",
    "[SILENT]",
    "<silence/>",
    "*stays silent*",
    "*remains silent*",
    "(stays quiet)",
    "_keeps quiet_",
    "I'll stay quiet.",
    "I\u2019ll stay quiet.",
    "I'll stay silent here.",
    "I will remain silent.",
    "I'll keep quiet for now.",
    "I'll sit this one out.",
    "I'll stay out of this one.",
    "Staying silent.",
    "Remaining silent as the message is not addressed to me.",
    "I will not reply.",
    "I won't respond to this message.",
    "I don't need to respond here.",
    "I should not respond, since the policy is must_not_respond.",
    "Understood. No reply needed.",
    "Acknowledged, no response needed.",
    "Noted. I'll stay quiet.",
    "OK, I'll stay silent.",
    "This message does not require a response.",
    "This doesn't require a reply from me.",
    "The message is not addressed to me, so no reply is needed.",
    "This message is addressed to bob, not me. No reply.",
    "This event isn't directed at me, so I'll stay silent.",
    "Per the policy, I will not respond.",
    "response_policy: must_not_respond. No reply.",
    "must_not_respond",
    "HEARTBEAT_OK",
    "...",
    "…",
    "—",
    '{"reply": null}',
    '{"action": "no_reply"}',
    '{"no_reply": true}',
    '{"should_respond": false, "reason": "not for me"}',
    '{"response": ""}',
    "(empty)",
    "[empty response]",
    "(no output)",
    "empty response",
    "<think>Bob is asked, not me. I should stay quiet.</think>NO_REPLY",
    "<thinking>nothing to say</thinking>\n",
    "NO_REPLY\n\nReason: the message is meant for Bob.",
    "The thread is about the deploy, which Bob owns.\n\nNO_REPLY",
    "Reply: none",
    "I'm choosing to stay silent.",
    "Choosing to remain silent because nobody asked me.",
    "Keine Antwort nötig.",
    "Pas de réponse nécessaire.",
    "No es necesario responder.",
    "无需回复",
    "[intentionally left blank]",
    "The user only thanks me; by the rules I do not reply. NO_REPLY",
    "Final answer: NO_REPLY",
    "assistant: NO_REPLY",
    "NO_REPLY — thanks only, nothing to add.",
    "NO_REPLY (policy: must_not_respond)",
    "NO\\_REPLY",
    "# NO_REPLY",
    "- NO_REPLY",
    "<final>NO_REPLY</final>",
    "<response></response>",
    "Response: (none)",
    "END_TURN",
    "I'm choosing not to respond.",
    "Since the response policy is must_not_respond, I will not reply.",
    "🤐",
]

SILENT_UNLESS_AN_ANSWER_IS_OWED = [
    "Nothing to add.",
    "I have nothing to add.",
    "Nothing further to add here.",
    "No action needed.",
    "No action required from me.",
    "Not for me.",
    "None",
    "N/A",
    "Skip",
    "SKIP",
    "Just watching.",
    "Nothing new to report.",
    "Acknowledged.",
    "null",
    "There's nothing for me to do here.",
    "This is just a thank-you, no reply needed.",
    "No reply required: Ann just said thanks.",
    "Do not respond.",
    "no-op",
    "Action: none",
]

POSTED = [
    "No reply from the server after 30 seconds; I restarted it.",
    "No response from Bob yet, shall I ask again?",
    "No reply needed from you: I have fixed the build myself.",
    "NO_REPLY is the token that the old bot used.",
    "Use NO_REPLY when an agent should stay quiet.",
    "The sentinel is:\n\n```\nNO_REPLY\n```",
    "I'll stay quiet about the outage until legal has spoken.",
    "I'll keep quiet about the surprise party, but Ann should know.",
    "I won't respond to the vendor until we have a signed contract.",
    "I will not answer for the infrastructure team; ask Dana.",
    "Silence on the line usually means the codec failed.",
    "The [silence] markers in the transcript come from the recogniser.",
    "Silent installs need the /S switch.",
    "No response is a bug: the handler returns 204 without a body.",
    "There is no answer to that in the log; the entry was rotated away.",
    "No, reply to the thread instead.",
    "No. Response times went up by 20 ms.",
    "No reply needed? I think we should still confirm.",
    "Should I stay quiet?",
    "This message is not addressed to me, but the fix is one line: set TZ.",
    'The endpoint returns {"reply": null} when the queue is empty.',
    "Nothing broke. 412 tests pass.",
    "Nothing to add to the changelog except the migration note.",
    "Yes.",
    "No.",
    "42",
    "👍",
    "?",
    "I don't need to respond to every alert, only to pages. The page came at 09:12.",
    "Remaining silent failures: 3 in the parser, 1 in the cache.",
    "Passing. All green.",
    "I'll pass the file to Dana.",
    "It does not require a response header; any 2xx will do.",
    "The policy is must_not_respond for digests, may_respond for the rest.",
    "Reply: the release is on Thursday.",
    "I can stay silent or page you at night. Which do you prefer",
    "PASS\n12 of 12 tests pass.",
    "The suite is through:\nPASS",
    "SKIP\nThe test needs a network.",
    "IGNORE\nThat file belongs into .gitignore.",
    "SILENT\nis the name of the flag.",
    "The flag is called NO_REPLY.",
    "NO_REPLY and NO_RESPONSE are both known.",
    "Answer: no",
    "Answer: no, the disk is full.",
    "Since the policy changed, I will not deploy.",
    "Thanks, Ann said no reply came from the vendor.",
]
POSTED_WHEN_OWED = [
    "None.",
    "No action needed.",
    "Nothing to report.",
    "Pass",
    "PASS",
    "N/A",
    "Acknowledged.",
    "Answer: none",
    "Empty string.",
    "Do not respond.",
    "It is a no-op.",
    "no-op",
    "null",
]


@pytest.mark.spec("C2A-059")
@pytest.mark.parametrize("text", SILENT)
def test_a_form_of_silence_posts_nothing(text):
    assert said(text, obliged=True) == ""
    assert said(text, obliged=False) == ""


@pytest.mark.spec("C2A-059")
@pytest.mark.parametrize("text", SILENT_UNLESS_AN_ANSWER_IS_OWED)
def test_a_shrug_posts_nothing_where_no_answer_is_owed(text):
    assert is_silence(text, obliged=False)


@pytest.mark.parametrize("text", POSTED_WHEN_OWED)
def test_a_shrug_is_an_answer_where_one_is_owed(text):
    assert said(text, obliged=True) == text


@pytest.mark.parametrize("text", POSTED)
def test_words_that_only_look_like_silence_are_posted(text):
    assert said(text, obliged=True) == text
    assert said(text, obliged=False) == text


def test_a_thought_is_not_posted():
    assert said("<think>They want a number.</think>\n42", obliged=True) == "42"


@pytest.mark.spec("C2A-059")
def test_what_is_longer_than_four_hundred_characters_says_something():
    for obliged in (True, False):
        assert said("_" * 392 + "no reply", obliged=obliged) == ""
        assert said("_" * 393 + "no reply", obliged=obliged) != ""
