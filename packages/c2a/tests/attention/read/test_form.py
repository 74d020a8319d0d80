"""How a line ends: what looks whole, and after what more must come, in every script."""

from __future__ import annotations

import pytest

from tacit.attention.read.form import READ, Ending, ending_of

WHOLE = [
    "@ada can you look?",
    "@ada the build is red.",
    "@ada fix it! 🙏",
    '@ada he said "done."',
    "@ada (is it the cache?)",
    "@ada 请看一下？",
    "@ada これを見てください。",
    "@ada هل يمكنك أن تنظر؟",
    "@ada क्या आप देख सकते हैं।",
    "@ada ποιο branch;",
    "@ada схема готова?",
]
CLAUSE = [
    "@ada which branch do we release from",
    "@ada can you check the build",
    "@ada schau mal bitte nach dem Build",
    "请@ada看一下",
]
PLAIN = ["content", "I mean the staging one", "@ada the staging logs", "@ada it says `no such table`", "ok"]
HANGING = [
    "@ada",
    "@ada?",
    "＠ada",
    "@ada hey",
    "@ada hi!",
    "@ada 你好",
    "@ada two things:",
    "@ada first,",
    "@ada well...",
    "@ada well…",
    "@ada who is on call -",
    "@ada I mean (the staging",
    "@ada it prints\n```\nTraceback",
    "@ada can you check the build and",
    "@ada schau dir den Build an und",
    "@ada regarde le build et",
    "@ada mira la rama y",
    "@ada посмотри сборку и",
    "@ada 看一下，",
    "@ada 我想知道如果",
    "@ada ビルドを",
    "@ada quick question",
]


@pytest.mark.spec("C2A-083", "C2A-221")
@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (text, ending)
        for ending, texts in (
            (Ending.WHOLE, WHOLE),
            (Ending.CLAUSE, CLAUSE),
            (Ending.PLAIN, PLAIN),
            (Ending.HANGING, HANGING),
        )
        for text in texts
    ],
)
def test_how_a_line_ends(text: str, ending: Ending) -> None:
    assert ending_of(text) is ending


def test_a_name_without_a_sign_is_a_bare_call_only_where_it_is_one() -> None:
    assert ending_of("ada?") is Ending.WHOLE
    assert ending_of("ada?", ("ada",)) is Ending.HANGING
    assert ending_of("hey Ada", ("ada",)) is Ending.HANGING
    assert ending_of("ada, where is the log?", ("ada",)) is Ending.WHOLE
    assert ending_of("???") is Ending.PLAIN


def test_of_a_long_text_the_end_alone_is_read() -> None:
    assert ending_of("( " + "x " * READ + "is it done?") is Ending.WHOLE
