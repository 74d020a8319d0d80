"""What is erased by age goes by a confirmed time: the type checker is the check, and this finds its gaps."""

from __future__ import annotations

import ast
import re

from tools.places import modules

AGED = re.compile(
    r"(?:DELETE FROM|UPDATE \w+ SET (?:payload|sealed|question)=x'')"
    r"[^;]*?\b(?:at|until|made_at|replaced_at|accepted_at|ended|hour|not_before)\s*<=?\s*(?:\?|:)",
    re.DOTALL,
)
BY_ANOTHER_MEASURE = {
    (
        "a2acp/post/io/outbox.py",
        "_forget_resent",
    ): "a repeat a minute: what goes is the note that one was made",
}
"""Functions that erase by age without a confirmed time, and why that may be."""
MAKERS = {"base/watched_time.py", "base/moment.py"}
"""Where a confirmed time is made: by the rule, and as one that lies before another."""


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def texts(node: ast.AST) -> str:
    """The strings of a function, whole statements of SQL among them."""
    return "\n".join(
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def sources(*words: str) -> list[tuple[str, ast.Module]]:
    """The modules that hold one of these words."""
    texts = ((where, path.read_text("utf-8")) for path, where in modules())
    return [(where, ast.parse(text)) for where, text in texts if any(word in text for word in words)]


def test_whatever_erases_by_age_takes_a_confirmed_time() -> None:
    by_a_mere_clock = []
    for name, tree in sources("DELETE FROM", "=x''"):
        for function in functions(tree):
            if not AGED.search(texts(function)):
                continue
            written = ast.unparse(function)
            if "ConfirmedTime" in ast.unparse(function.args) or "confirmed()" in written:
                continue
            if (name, function.name) not in BY_ANOTHER_MEASURE:
                by_a_mere_clock.append(f"{name}: {function.name}")
    assert by_a_mere_clock == []


def test_a_confirmed_time_is_made_in_one_place() -> None:
    makers = {
        name
        for name, tree in sources("ConfirmedTime(")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ConfirmedTime"
    }
    assert makers == MAKERS
