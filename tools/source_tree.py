"""A package's source as data for the tools: every definition, and to what each name in it resolves.

A definition is called `module:qualname`. A name is followed through imports (those for the type checker too, and
through re-exports) to the module-level definition that it means; a name bound inside a function is that function's
own. Knows nothing of running code: no module of the product is imported here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Def = ast.FunctionDef | ast.AsyncFunctionDef
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Module:
    """One file: its tree, what its imports bind, and what it defines at its top."""

    name: str
    path: Path
    tree: ast.Module
    is_package: bool
    imports: dict[str, str] = field(default_factory=dict[str, str])
    functions: dict[str, Def] = field(default_factory=dict[str, Def])
    classes: dict[str, ast.ClassDef] = field(default_factory=dict[str, ast.ClassDef])
    variables: dict[str, list[ast.stmt]] = field(default_factory=dict[str, list[ast.stmt]])

    def defines(self, name: str) -> bool:
        """Is it bound at this module's top by something other than an import?"""
        return name in self.functions or name in self.classes or name in self.variables


@dataclass(slots=True)
class Tree:
    """All modules of one package, by dotted name."""

    package: str
    modules: dict[str, Module]

    def resolve(self, dotted: str) -> tuple[str, str] | None:
        """(module, name) that a dotted name means, with `name` empty for a module; None when it is not ours."""
        for _ in range(20):
            module, name = self._split(dotted)
            if module is None:
                return None
            if not name:
                return module, ""
            first, _, rest = name.partition(".")
            found = self.modules[module]
            if not found.defines(first) and first in found.imports:
                dotted = found.imports[first] + (f".{rest}" if rest else "")
                continue
            return module, name
        return None

    def _split(self, dotted: str) -> tuple[str | None, str]:
        parts = dotted.split(".")
        for count in range(len(parts), 0, -1):
            module = ".".join(parts[:count])
            if module in self.modules:
                return module, ".".join(parts[count:])
        return None, dotted


def load(folders: Iterable[Path], package: str) -> Tree:
    """Every module of a package, parts of which lie below each of these folders."""
    modules: dict[str, Module] = {}
    paths = ((folder, path) for folder in folders for path in sorted((folder / package).rglob("*.py")))
    for folder, path in paths:
        parts = list(path.relative_to(folder).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        module = Module(name, path, ast.parse(path.read_text(encoding="utf-8")), is_package)
        for statement in module.tree.body:
            _bind(module, statement)
        modules[name] = module
    return Tree(package, modules)


def _bind(module: Module, statement: ast.stmt) -> None:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            module.functions[statement.name] = statement
        case ast.ClassDef():
            module.classes[statement.name] = statement
        case ast.Import() | ast.ImportFrom():
            module.imports |= imported(module, statement)
        case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
            for inner in ast.iter_child_nodes(statement):
                if isinstance(inner, ast.stmt):
                    _bind(module, inner)
                elif isinstance(inner, ast.ExceptHandler):
                    for one in inner.body:
                        _bind(module, one)
        case _:
            for name in bound_by(statement):
                module.variables.setdefault(name, []).append(statement)


def imported(module: Module, statement: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """What an import binds, as dotted names."""
    if isinstance(statement, ast.Import):
        return {
            one.asname or one.name.partition(".")[0]: one.name if one.asname else one.name.partition(".")[0]
            for one in statement.names
        }
    base = statement.module or ""
    if statement.level:
        parts = module.name.split(".")
        kept = parts[: len(parts) - statement.level + (1 if module.is_package else 0)]
        base = ".".join([*kept, base] if base else kept)
    return {one.asname or one.name: f"{base}.{one.name}" for one in statement.names}


def bound_by(statement: ast.AST) -> set[str]:
    """Names that a statement stores, nested scopes left out."""
    return {
        node.id
        for node in own_nodes(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, without the bodies of functions, lambdas and classes in it."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (*DEFS, ast.Lambda, ast.ClassDef)):
            continue
        yield from own_nodes(inner)


def locals_of(function: Def | ast.Lambda) -> set[str]:
    """Names that are a function's own: parameters, and whatever it binds without `global`."""
    arguments = function.args
    names = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    names |= {one.arg for one in (arguments.vararg, arguments.kwarg) if one}
    outer: set[str] = set()
    for statement in function.body if isinstance(function.body, list) else [function.body]:
        for node in own_nodes(statement):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    names.add(name)
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    names.add(name)
                case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                    names.add(name)
                case ast.Global(names=found) | ast.Nonlocal(names=found):
                    outer |= set(found)
                case _:
                    pass
        if isinstance(statement, (*DEFS, ast.ClassDef)):
            names.add(statement.name)
    return names - outer


def is_checking(test: ast.expr) -> bool:
    """Is this the type checker's own condition?"""
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def is_main(test: ast.expr) -> bool:
    """Is this `__name__ == "__main__"`?"""
    return isinstance(test, ast.Compare) and getattr(test.left, "id", "") == "__name__"


def definitions(tree: Tree) -> Iterator[tuple[str, Module, Def, ast.ClassDef | None]]:
    """Each function and method with a body of its own, named `module:qualname`."""
    for module in tree.modules.values():
        for function in module.functions.values():
            yield f"{module.name}:{function.name}", module, function, None
        for kind in module.classes.values():
            for function in kind.body:
                if isinstance(function, DEFS):
                    yield f"{module.name}:{kind.name}.{function.name}", module, function, kind
