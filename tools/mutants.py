"""Mutants: every single change that a test of the rule should notice, as values.

A mutant replaces one span of one file. What no test can notice, or none should, is left out: docstrings, annotations,
log calls, words of messages, `__slots__`, `__repr__`, ports. A string is altered only where it is a code or a name.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tools import row_ids
from tools.source_tree import DEFS, Def, Module, Tree, is_checking, is_main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SWAPPED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CODE: Final = re.compile(r"[A-Za-z_][\w.:/-]{1,40}")
_LOG: Final = re.compile(
    r"(?i)(^|\.)_?(log|logger|warnings|metrics?)\.|\.(debug|info|warning|exception)$|^print$"
)
_NAMES_ONLY: Final = frozenset(
    {"cast", "TypeVar", "NewType", "getattr", "hasattr", "import_module", "getLogger"}
)
_NAMED: Final = frozenset({"create_task", "Thread", "GroupCommit", "ThreadPoolExecutor"})
_UNSEEN: Final = frozenset({"__repr__", "__str__", "__slots__", "__all__"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: in which file and lines, what it was and becomes, and the rows that should notice."""

    key: str
    module: str
    name: str
    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str
    what: str
    rows: tuple[str, ...]

    def applied(self, text: bytes) -> bytes:
        """The file with the change in it."""
        return text[: self.start] + self.after.encode() + text[self.end :]


@dataclass(frozen=True, slots=True)
class Change:
    """A node, and the text that stands in its place."""

    node: ast.expr | ast.stmt
    after: str
    what: str


def of_tree(tree: Tree, known: set[str], tied: dict[str, list[str]]) -> dict[str, list[Mutant]]:
    """All mutants of a package by function. `tied` adds rows that a run has tied to a function."""
    found: dict[str, list[Mutant]] = {}
    for module in tree.modules.values():
        text = module.path.read_bytes()
        lines = text.decode().split("\n")
        top = row_ids.named_in(ast.get_docstring(module.tree) or "", known)
        for name, function, kind in functions(module):
            rows = _rows(lines, function, known)
            if not rows and kind:
                rows = row_ids.named_in(ast.get_docstring(kind) or "", known)
            rows = tuple(dict.fromkeys([*(rows or top), *tied.get(f"{module.name}:{name}", [])]))
            if rows:
                body = [change for statement in function.body for change in changes(statement)]
                _keep(found, module, text, name, rows, body)
        if top:
            _keep(found, module, text, "<module>", tuple(top), list(constants(module)))
    return found


def functions(module: Module) -> Iterator[tuple[str, Def, ast.ClassDef | None]]:
    """Functions and methods that do something of their own."""
    for function in module.functions.values():
        yield function.name, function, None
    for kind in module.classes.values():
        if any(ast.unparse(base).startswith(("Protocol", "typing.Protocol")) for base in kind.bases):
            continue
        for item in kind.body:
            if isinstance(item, DEFS) and item.name not in _UNSEEN:
                yield f"{kind.name}.{item.name}", item, kind


def _rows(lines: list[str], function: Def, known: set[str]) -> list[str]:
    """Rows named in a function's docstring or in comments inside it."""
    inside = lines[function.lineno - 1 : function.end_lineno]
    comments = [line.partition("#")[2] for line in inside if "#" in line]
    return row_ids.named_in("\n".join([ast.get_docstring(function) or "", *comments]), known)


def _keep(
    found: dict[str, list[Mutant]],
    module: Module,
    text: bytes,
    name: str,
    rows: tuple[str, ...],
    made: list[Change],
) -> None:
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    seen: set[str] = set()
    for change in made:
        node = change.node
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = text[start:end].decode()
        around = text[max(0, start - 60) : end + 60]
        mark = hashlib.sha256(f"{change.after}|{change.what}|".encode() + around).hexdigest()[:12]
        key = f"{module.name}:{name}:{mark}"
        if key in seen or before == change.after:
            continue
        seen.add(key)
        found.setdefault(f"{module.name}:{name}", []).append(
            Mutant(
                key,
                module.name,
                name,
                module.path,
                node.lineno,
                start,
                end,
                before,
                change.after,
                change.what,
                rows,
            )
        )


def constants(module: Module) -> Iterator[Change]:
    """Numbers at a module's top: limits, and cells of tables."""
    for statement in module.tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not any(getattr(target, "id", "") in _UNSEEN for target in targets):
                for node in ast.walk(statement.value):
                    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
                        yield from _constant(node)


def changes(node: ast.AST) -> Iterator[Change]:
    """Every change to one statement and what is inside it."""
    if _is_mute(node):
        return
    if isinstance(node, ast.stmt):
        yield from _statement(node)
    elif isinstance(node, ast.expr):
        yield from _expression(node)
    if isinstance(node, (ast.If, ast.IfExp)):
        yield Change(node.test, f"(not ({ast.unparse(node.test)}))", "negate the condition")
    for inner in _inside(node):
        yield from changes(inner)


def _is_mute(node: ast.AST) -> bool:
    """Is there nothing in it that a test should notice?"""
    match node:
        case ast.If(test=test):
            return is_checking(test) or is_main(test)
        case ast.Expr(value=ast.Call(func=function) | ast.Await(value=ast.Call(func=function))):
            return _LOG.search(ast.unparse(function)) is not None
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.arguments():
            return True
        case _:
            return isinstance(node, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal))


def _statement(node: ast.stmt) -> Iterator[Change]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield Change(node, "pass", "drop the call")
        case ast.Raise():
            yield Change(node, "pass", "drop the raise")
        case ast.Continue():
            yield Change(node, "pass", "drop the continue")
        # Nothing is as false as False: who asks for a truth value cannot tell.
        case ast.Return(value=ast.expr() as value) if not (
            isinstance(value, ast.Constant) and (value.value is None or value.value is False)
        ):
            yield Change(node, "return None", "return None")
        case ast.AugAssign(op=ast.Add() | ast.Sub()):
            swapped = ast.AugAssign(
                node.target, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.value
            )
            yield Change(node, ast.unparse(swapped), "swap += and -=")
        case _:
            pass


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.AnnAssign(value=value):
            yield from [value] if value else []
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            yield from body
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given) if name in _NAMES_ONLY:
            yield from given[1:]
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in _NAMED:
            # What a task or a thread is called is for whoever debugs.
            yield from [*node.args, *(one for one in node.keywords if one.arg != "name")]
        case ast.If(test=test) if _is_own_negation(test):
            yield from [*ast.iter_child_nodes(test), *node.body, *node.orelse]
        case _:
            yield from ast.iter_child_nodes(node)


def _is_own_negation(test: ast.expr) -> bool:
    """Is the negated condition the same change as one of the swaps below?"""
    if isinstance(test, ast.Compare):
        return not any(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in test.ops)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _expression(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _SWAPPED:
            swapped = ast.Compare(node.left, [_SWAPPED[type(op)]()], node.comparators)
            yield Change(node, f"({ast.unparse(swapped)})", "swap the comparison")
        case ast.BoolOp():
            other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            yield Change(node, f"({ast.unparse(other)})", "swap and/or")
        case ast.UnaryOp(op=ast.Not()):
            yield Change(node, f"({ast.unparse(node.operand)})", "remove not")
        case ast.Call(func=ast.Name(id="min" | "max" as name)):
            yield Change(node.func, "max" if name == "min" else "min", "swap min and max")
        case ast.BinOp(op=ast.Add() | ast.Sub()) if isinstance(node.op, ast.Sub) or isinstance(
            getattr(node.right, "value", None), int
        ):
            other = ast.BinOp(node.left, ast.Add() if isinstance(node.op, ast.Sub) else ast.Sub(), node.right)
            yield Change(node, f"({ast.unparse(other)})", "swap + and -")
        case ast.Constant():
            yield from _constant(node)
        case _:
            pass


def _constant(node: ast.Constant) -> Iterator[Change]:
    match node.value:
        case bool():
            yield Change(node, str(not node.value), "swap True and False")
        case int() | float():
            yield Change(node, f"({node.value + 1})", "one more")
        case str() if _CODE.fullmatch(node.value) and not row_ids.ROW.fullmatch(node.value):
            yield Change(node, repr(f"{node.value}x"), "alter the text")
        case _:
            pass
