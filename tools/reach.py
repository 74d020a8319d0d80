"""Which functions, methods and classes of the product a product entry point can reach; the others have no caller.

python -m tools.reach            prints what nothing reaches and what spec/unreached.toml does not excuse; fails on any
python -m tools.reach --all      excused ones too

Computed from the entry points alone, by fixpoint: what only dead code names is dead. Static and conservative. A
module-level name is resolved by its import; a method counts when its class is reached and some reached code takes an
attribute of that name (`self.name` means the class's own family). A method that a library calls counts: special
methods, whatever a foreign base class may call, and what a decorator registers. Strings that name a module, or
`module:name`, count as naming it; where a module looks attributes up by a computed name, its strings count as names.

Entry points: the console scripts and contributions of pyproject.toml, what a package's `__all__` exports (with the public
methods of the classes in it), what the pages' Python examples import, and a module's `__main__` part where reached code
starts it.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tools.places import ROOT, pages, projects, sources
from tools.source_tree import DEFS, Def, Module, Tree, imported, is_checking, is_main, load, locals_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PACKAGE: Final = "tacit"
ALLOWED: Final = ROOT / "spec" / "unreached.toml"

# Bases outside the product that call nothing by name, and decorators that keep a function to themselves.
QUIET_BASES: Final = frozenset(
    [
        "object",
        "Protocol",
        "Generic",
        "NamedTuple",
        "TypedDict",
        "Struct",
        "Enum",
        "StrEnum",
        "IntEnum",
        "Flag",
        "IntFlag",
        "Exception",
        "ValueError",
        "OSError",
        "KeyError",
        "TypeError",
        "RuntimeError",
        "LookupError",
        "ABC",
    ]
)
QUIET_DECORATORS: Final = frozenset(
    [
        "dataclass",
        "property",
        "staticmethod",
        "classmethod",
        "contextmanager",
        "asynccontextmanager",
        "lru_cache",
        "cache",
        "cached_property",
        "overload",
        "override",
        "final",
        "wraps",
        "runtime_checkable",
        "setter",
        "getter",
        "deleter",
        "abstractmethod",
        "total_ordering",
        "unique",
        "singledispatch",
        "singledispatchmethod",
        "no_type_check",
    ]
)
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_]\w*)?")
_FENCE: Final = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_IMPORT: Final = re.compile(r"from ([\w.]+) import (\([^)]*\)|[\w, ]+)")
_IMPORTED: Final = re.compile(r"(\w+)(?: as \w+)?")


@dataclass(slots=True)
class Uses:
    """What one piece of code names: modules it loads, definitions, attributes of anything, attributes of `self`.

    `public` are classes whose every public method may be called; `by_text` are modules that are named by a text.
    """

    modules: set[str] = field(default_factory=set[str])
    names: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    attributes: set[str] = field(default_factory=set[str])
    own: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    public: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    by_text: set[str] = field(default_factory=set[str])


class Reader:
    """Finds what a piece of code uses, in the scope it stands in."""

    def __init__(self, tree: Tree, module: Module, kind: str = "") -> None:
        self._tree = tree
        self._module = module
        self._kind = kind
        self._self = ""
        self._imports: list[dict[str, str]] = []
        self.uses = Uses()
        self._strings_are_names = looks_up(module.path, module.tree)

    def read(self, nodes: Iterable[ast.AST], bound: set[str], own: str = "") -> Uses:
        """Everything that these nodes use; `own` is what the function calls its object."""
        self._self = own
        for node in nodes:
            self._visit(node, bound)
        return self.uses

    def _visit(self, node: ast.AST, bound: set[str]) -> None:
        match node:
            case ast.If(test=test) if is_checking(test):
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, bound)
                return
            case ast.Import() | ast.ImportFrom():
                self._import(node)
                return
            case ast.AnnAssign():
                self._each([node.target, *([node.value] if node.value else [])], bound)
                return
            case ast.Name(id=name, ctx=ast.Load()) if name not in bound or name in self._local_imports():
                self._name(self._dotted(name))
                return
            case ast.Attribute():
                self._attribute(node, bound)
                return
            case ast.MatchClass():
                self.uses.attributes |= set(node.kwd_attrs)
            case ast.Constant(value=str(text)):
                self._string(text)
            case ast.Call(
                func=ast.Name(id="getattr" | "attrgetter" | "methodcaller" | "hasattr"), args=given
            ):
                for one in given:
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        self.uses.attributes |= set(one.value.split("."))
            case _:
                pass
        self._each(ast.iter_child_nodes(node), bound)

    def _each(self, nodes: Iterable[ast.AST], bound: set[str]) -> None:
        for node in nodes:
            self._visit(node, bound)

    def _function(self, node: Def | ast.Lambda, bound: set[str]) -> None:
        arguments = node.args
        self._each([one for one in [*arguments.defaults, *arguments.kw_defaults] if one], bound)
        if isinstance(node, DEFS):
            self._each(node.decorator_list, bound)
        body = node.body if isinstance(node.body, list) else [node.body]
        self._each(body, bound | locals_of(node))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        found = imported(self._module, node)
        self._imports.append(found)
        for dotted in [*found.values(), *(one.name for one in node.names if isinstance(node, ast.Import))]:
            target = self._tree.resolve(dotted)
            if target:
                self.uses.modules.add(target[0])

    def _local_imports(self) -> set[str]:
        return {name for found in self._imports for name in found}

    def _dotted(self, name: str) -> str:
        for found in reversed(self._imports):
            if name in found:
                return found[name]
        if not self._module.defines(name) and name in self._module.imports:
            return self._module.imports[name]
        return f"{self._module.name}.{name}"

    def _name(self, dotted: str) -> None:
        target = self._tree.resolve(dotted)
        if target is None:
            return
        module, name = target
        self.uses.modules.add(module)
        if name:
            first, _, rest = name.partition(".")
            self.uses.names.add((module, first))
            if rest:
                self.uses.attributes |= set(rest.split("."))

    def _attribute(self, node: ast.Attribute, bound: set[str]) -> None:
        chain: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        chain.reverse()
        loads = isinstance(node.ctx, ast.Load)
        if not isinstance(inner, ast.Name):
            self.uses.attributes |= set(chain if loads else chain[:-1])
            self._visit(inner, bound)
            return
        if inner.id == self._self and self._kind and inner.id not in bound:
            self.uses.own.add((self._module.name, self._kind, chain[0]))
            self.uses.attributes |= set(chain[1:])
            return
        if inner.id in bound and inner.id not in self._local_imports():
            self.uses.attributes |= set(chain if loads else chain[:-1])
            return
        dotted = self._dotted(inner.id)
        if self._tree.resolve(dotted) is not None:
            self._of_ours(dotted, chain)

    def _of_ours(self, dotted: str, chain: list[str]) -> None:
        """`module.name...` goes as far as modules go; what comes behind a definition is an attribute of something."""
        target = self._tree.resolve(dotted)
        while target and not target[1] and chain:
            dotted, chain = f"{dotted}.{chain[0]}", chain[1:]
            target = self._tree.resolve(dotted)
        self._name(dotted)
        self.uses.attributes |= set(chain)

    def _string(self, text: str) -> None:
        for module, names in _IMPORT.findall(text):
            # A program for `python -c`.
            for name in _IMPORTED.findall(names):
                self._name(f"{module}.{name}")
        if not _DOTTED.fullmatch(text):
            return
        module, colon, name = text.partition(":")
        if module in self._tree.modules:
            self.uses.modules.add(module)
            if colon:
                self._name(f"{module}.{name}")
            elif "." in module:
                self.uses.names.add((module, "__main__"))
                self.uses.by_text.add(module)
        if self._strings_are_names and text.isidentifier():
            self.uses.attributes.add(text)


_LOOKS_UP: Final[dict[Path, bool]] = {}


def looks_up(path: Path, tree: ast.Module) -> bool:
    """Does it take attributes by a name that is computed?"""
    if path not in _LOOKS_UP:
        _LOOKS_UP[path] = _computes_names(tree)
    return _LOOKS_UP[path]


def _computes_names(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "getattr"
        and len(node.args) > 1
        and not isinstance(node.args[1], ast.Constant)
        for node in ast.walk(tree)
    )


@dataclass(slots=True)
class Kind:
    """A class: its methods, whose methods it takes over, and whether a library may call any of them."""

    module: str
    node: ast.ClassDef
    methods: dict[str, list[Def]]
    bases: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    foreign: bool = False
    is_protocol: bool = False


class Graph:
    """The whole product and what has been reached of it so far."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.kinds: dict[tuple[str, str], Kind] = {}
        self.family: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        self.modules: set[str] = set()
        self.names: set[tuple[str, str]] = set()
        self.attributes: set[str] = set()
        self.own: set[tuple[str, str, str]] = set()
        self.methods: set[tuple[str, str, str]] = set()
        self.by_text: set[str] = set()
        self.public: set[tuple[str, str]] = set()
        self._above: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self._todo: list[Uses] = []
        for module in tree.modules.values():
            for node in module.classes.values():
                self._add_kind(module, node)
        self._families()

    def _add_kind(self, module: Module, node: ast.ClassDef) -> None:
        methods: defaultdict[str, list[Def]] = defaultdict(list)
        for item in ast.walk(node):
            if isinstance(item, DEFS) and item in node.body:
                methods[item.name].append(item)
        kind = Kind(module.name, node, dict(methods))
        for base in node.bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            text = ast.unparse(plain)
            name = text.rpartition(".")[2]
            target = self._target(module, text)
            kind.is_protocol |= name == "Protocol"
            if target:
                kind.bases.append(target)
            elif name not in QUIET_BASES:
                kind.foreign = True
        self.kinds[module.name, node.name] = kind

    def _target(self, module: Module, text: str) -> tuple[str, str] | None:
        first, _, rest = text.partition(".")
        start = f"{module.name}.{first}" if module.defines(first) else module.imports.get(first, "")
        target = self.tree.resolve(start + (f".{rest}" if rest else "")) if start else None
        return target if target and target[1] else None

    def above(self, one: tuple[str, str]) -> set[tuple[str, str]]:
        """A class and all that it takes methods from."""
        if one not in self._above:
            self._above[one] = {one}
            for base in self.kinds[one].bases if one in self.kinds else []:
                self._above[one] |= self.above(base)
        return self._above[one]

    def _families(self) -> None:
        """A class's family: all that it takes methods from, and all that take methods from one of these."""
        below: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for one, kind in self.kinds.items():
            for other in self.above(one):
                below[other].add(one)
                kind.foreign |= other in self.kinds and self.kinds[other].foreign
        for one in self.kinds:
            for other in self.above(one):
                for relative in below[other] | {other}:
                    # A mixin calls what its sibling brings to the class that has both.
                    self.family[one] |= self.above(relative)

    def reach(self, entries: Iterable[Uses]) -> None:
        """Follow the entry points until nothing new is reached."""
        self._todo = list(entries)
        while self._todo:
            while self._todo:
                self._take(self._todo.pop())
            self._live_methods()

    def _take(self, uses: Uses) -> None:
        self.attributes |= uses.attributes
        self.own |= uses.own
        self.by_text |= uses.by_text
        for place in uses.public - self.public:
            self.public.add(place)
            for one in self.above(place) & self.kinds.keys():
                self._publish(self.kinds[one])
        for module in uses.modules:
            self._load(module)
        for module, name in uses.names:
            self._name(module, name)

    def _publish(self, kind: Kind) -> None:
        """Anybody may call its public methods, and the public methods of what these return."""
        module = self.tree.modules[kind.module]
        for name, found in kind.methods.items():
            if name.startswith("_"):
                continue
            self.own.add((kind.module, kind.node.name, name))
            for node in [one for function in found if function.returns for one in types(function.returns)]:
                for part in ast.walk(node):
                    target = self._target(module, part.id) if isinstance(part, ast.Name) else None
                    if target in self.kinds:
                        self._todo.append(Uses(names={target}, public={target}))

    def _load(self, name: str) -> None:
        # A namespace above the packages is no module.
        while name in self.tree.modules and name not in self.modules:
            module = self.tree.modules[name]
            self.modules.add(name)
            reader = Reader(self.tree, module)
            for statement in module.tree.body:
                match statement:
                    case ast.FunctionDef() | ast.AsyncFunctionDef():
                        if registers(statement):
                            self._name(name, statement.name)
                    case ast.ClassDef():
                        if registers(statement) or self._registers_kinds(name, statement.name):
                            self._name(name, statement.name)
                    case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                        called = [one.func for one in ast.walk(value) if isinstance(one, ast.Call)]
                        reader.read([one for one in called if not isinstance(one, ast.Lambda)], set())
                    case ast.If(test=test) if is_main(test):
                        pass
                    case _:
                        reader.read([statement], set())
            self._todo.append(reader.uses)
            name = name.rpartition(".")[0]

    def _registers_kinds(self, module: str, name: str) -> bool:
        return any(
            "__init_subclass__" in self.kinds[one].methods
            for one in self.family[module, name]
            if one in self.kinds and one != (module, name)
        )

    def _name(self, module: str, name: str) -> None:
        if (module, name) in self.names:
            return
        self.names.add((module, name))
        found = self.tree.modules[module]
        if module not in self.modules:
            self._todo.append(Uses(modules={module}))
        if name == "__main__":
            body = [one for one in found.tree.body if isinstance(one, ast.If) and is_main(one.test)]
            self._todo.append(Reader(self.tree, found).read(body, set()))
        elif name in found.functions:
            self._todo.append(Reader(self.tree, found).read([found.functions[name]], set()))
        elif name in found.classes:
            self._class(found, found.classes[name])
        elif name in found.variables:
            self._todo.append(Reader(self.tree, found).read(found.variables[name], set()))

    def _class(self, module: Module, node: ast.ClassDef) -> None:
        reader = Reader(self.tree, module)
        bound = {item.name for item in node.body if isinstance(item, DEFS)}
        body: list[ast.AST] = [item for item in node.body if not isinstance(item, DEFS)]
        body += [*node.bases, *node.keywords, *node.decorator_list]
        if self._is_struct((module.name, node.name)):
            # A decoder makes what a member's type names.
            body += [
                one for item in node.body if isinstance(item, ast.AnnAssign) for one in types(item.annotation)
            ]
        for item in node.body:
            if isinstance(item, DEFS):
                body += item.decorator_list
        self._todo.append(reader.read(body, bound))

    def _is_struct(self, one: tuple[str, str], depth: int = 0) -> bool:
        kind = self.kinds.get(one)
        if kind is None or depth > 10:
            return False
        names = {ast.unparse(base).rpartition(".")[2] for base in kind.node.bases}
        return bool(names & {"Struct", "TypedDict"}) or any(
            self._is_struct(base, depth + 1) for base in kind.bases
        )

    def _live_methods(self) -> None:
        for name in self.by_text:
            module = self.tree.modules[name]
            for one in (module.functions.keys() | module.classes.keys()) & self.attributes:
                self._name(name, one)
        called: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for module, kind, name in self.own:
            called[name] |= self.family[module, kind]
        for place in [one for one in self.names if one in self.kinds]:
            for one in self.above(place):
                kind = self.kinds.get(one)
                for name, found in kind.methods.items() if kind else ():
                    if (*one, name) not in self.methods and (
                        name in self.attributes or one in called[name] or by_library(kind, name, found)
                    ):
                        self.methods.add((*one, name))
                        module = self.tree.modules[one[0]]
                        for function in found:
                            own = itself(function)
                            reader = Reader(self.tree, module, one[1])
                            self._todo.append(reader.read(inside(function), locals_of(function) - {own}, own))


def inside(function: Def) -> list[ast.AST]:
    """A method without its decorators and annotations."""
    defaults = [one for one in [*function.args.defaults, *function.args.kw_defaults] if one]
    return [*defaults, *function.body]


def itself(function: Def) -> str:
    """What a method calls its object."""
    if any(ast.unparse(one) == "staticmethod" for one in function.decorator_list):
        return ""
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return first[0].arg if first else ""


def types(annotation: ast.expr) -> list[ast.expr]:
    """An annotation and the annotations written as texts in it."""
    found = [annotation]
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                found.append(ast.parse(node.value, mode="eval").body)
            except SyntaxError:
                continue
    return found


def by_library(kind: Kind | None, name: str, found: list[Def]) -> bool:
    """May somebody outside call this method of a class that is in use?"""
    return (
        (name.startswith("_") and name.endswith("_"))
        or (kind is not None and kind.foreign)
        or any(registers(function) for function in found)
    )


def registers(node: Def | ast.ClassDef) -> bool:
    """Does a decorator hand the definition to somebody who may call it?"""
    for decorator in node.decorator_list:
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(plain).rpartition(".")[2] not in QUIET_DECORATORS:
            return True
    return False


def exported(tree: Tree) -> Uses:
    """What packages export by `__all__`, with the public methods of exported classes."""
    uses = Uses()
    for module in tree.modules.values():
        for statement in module.variables.get("__all__", []) if module.is_package else []:
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    publish(tree, f"{module.name}.{node.value}", uses)
    return uses


def publish(tree: Tree, dotted: str, uses: Uses) -> None:
    """Make one definition, and its public methods, an entry point."""
    target = tree.resolve(dotted)
    if target is None:
        return
    uses.modules.add(target[0])
    if target[1]:
        uses.names.add(target)
        if target[1] in tree.modules[target[0]].classes:
            uses.public.add(target)


def scripts(tree: Tree, project: Path) -> Uses:
    """The commands that an installation puts on the path, and what a package adds to another."""
    uses = Uses()
    described = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
    groups = [described.get("scripts", {}), *described.get("entry-points", {}).values()]
    for entry in (place for group in groups for place in group.values()):
        publish(tree, str(entry).replace(":", "."), uses)
    return uses


def documented(tree: Tree, pages: Iterable[Path]) -> Uses:
    """What the pages' Python examples import."""
    uses = Uses()
    for page in pages:
        for block in _FENCE.findall(page.read_text(encoding="utf-8")):
            for module, names in _IMPORT.findall(block):
                for name in _IMPORTED.findall(names):
                    publish(tree, f"{module}.{name}", uses)
    return uses


def unreached(root: Path = ROOT, package: str = PACKAGE) -> tuple[list[str], set[str]]:
    """(definitions that nothing reaches, every function and method there is), each as `module:qualname`."""
    tree = load(sources(root), package)
    graph = Graph(tree)
    commands = [scripts(tree, project) for project in projects(root)]
    graph.reach([*commands, exported(tree), documented(tree, pages(root))])
    dead: list[str] = []
    known: set[str] = set()
    kinds = {other for one in graph.names if one in graph.kinds for other in graph.above(one)}
    for module in tree.modules.values():
        for name in module.functions:
            known.add(f"{module.name}:{name}")
            if (module.name, name) not in graph.names:
                dead.append(f"{module.name}:{name}")
        for name in module.classes:
            kind = graph.kinds[module.name, name]
            methods = {f"{module.name}:{name}.{method}" for method in kind.methods}
            known |= methods
            if kind.is_protocol:
                continue
            if (module.name, name) not in kinds:
                dead.append(f"{module.name}:{name}")
                continue
            dead += [
                f"{module.name}:{name}.{method}"
                for method in kind.methods
                if (module.name, name, method) not in graph.methods
            ]
    return dead, known


def covers(entry: str, name: str) -> bool:
    """Is a definition the entry, or inside it? An entry may be a whole module."""
    return name == entry or name.startswith((f"{entry}.", f"{entry}:"))


def allowed(path: Path = ALLOWED) -> dict[str, str]:
    """Definitions that may stay although nothing reaches them, with the reason."""
    if not path.exists():
        return {}
    return {
        name: str(entry["reason"])
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("unreached", [])
        for name in entry["names"]
    }


def faults(root: Path, dead: list[str]) -> list[str]:
    """What is unreached and not excused, and excuses that are not needed."""
    excused = allowed(root / "spec" / "unreached.toml")
    found = [
        f"{one}: no product entry point reaches it"
        for one in dead
        if not any(covers(e, one) for e in excused)
    ]
    return found + [
        f"{entry}: in spec/unreached.toml, yet reached or gone"
        for entry in excused
        if not any(covers(entry, d) for d in dead)
    ]


def main() -> int:
    """Say what has no caller."""
    if "--all" in sys.argv:
        print("\n".join(unreached()[0]))
        return 0
    found = faults(ROOT, unreached()[0])
    print("\n".join(found) or "every definition is reached from an entry point")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
