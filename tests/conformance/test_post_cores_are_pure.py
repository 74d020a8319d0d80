"""Rules are functions of values: no core of wire, seal, relay, a2acp or agent asks the clock, the disk or chance."""

import ast

import pytest

from tools.places import modules

CORES = {
    where: path
    for path, where in modules()
    if where.startswith(("wire/", "seal/", "relay/", "a2acp/", "agent/"))
    if not {"io", "commands"} & set(where.split("/"))
}
FORBIDDEN_CALLS = {
    "open",
    "print",
    "input",
    "datetime.now",
    "datetime.utcnow",
    "time.time",
    "time.monotonic",
    "os.urandom",
    "os.open",
}
FORBIDDEN_MODULES = {
    "random",
    "secrets",
    "time",
    "os",
    "socket",
    "asyncio",
    "threading",
    "pathlib",
    "subprocess",
}


def called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{function.value.id}.{function.attr}"
    return ""


@pytest.mark.parametrize("path", CORES.values(), ids=CORES)
def test_a_core_module_touches_nothing_outside_its_arguments(path):
    tree = ast.parse(path.read_text())
    names = {called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not names & FORBIDDEN_CALLS
    modules = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    modules |= {
        (node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    assert not modules & FORBIDDEN_MODULES
