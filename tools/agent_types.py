"""The personal agent's operations as its page has them, in TypeScript: what each is asked with and answered with.

Made of the declarations in `tacit.base.agent_operations`; `tools/docs.py` writes and checks the file.
"""

import sys
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from tacit.base.agent_operations import AGENT_OPERATIONS

_PLAIN = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
    object: "unknown",
    Any: "unknown",
}


class _Declared:
    """The interfaces that were needed so far, each after those it stands on."""

    def __init__(self) -> None:
        self.interfaces: dict[str, str] = {}

    def written(self, shape: Any, *, asked: bool) -> str:
        """A type in TypeScript; a Struct by its name, declared on the way."""
        origin, inner = get_origin(shape), get_args(shape)
        if shape in _PLAIN:
            return _PLAIN[shape]
        if origin is Annotated:
            return self.written(inner[0], asked=asked)
        if origin is Literal:
            return " | ".join(
                f'"{value}"' if isinstance(value, str) else str(value).lower() for value in inner
            )
        if origin in {Union, types.UnionType}:
            members = [one for one in inner if one is not msgspec.UnsetType]
            return " | ".join(self.written(one, asked=asked) for one in members)
        if origin is list:
            item = self.written(inner[0], asked=asked)
            return f"({item})[]" if "|" in item else f"{item}[]"
        if origin is tuple:
            return f"[{', '.join(self.written(one, asked=asked) for one in inner)}]"
        if origin is dict:
            return f"Record<string, {self.written(inner[1], asked=asked)}>"
        return self._interface(shape, asked=asked)

    def _interface(self, struct: Any, *, asked: bool) -> str:
        name = _page_name(struct)
        if name not in self.interfaces:
            hints = get_type_hints(struct, include_extras=True)
            config = struct.__struct_config__
            lines = [f'  {config.tag_field}: "{config.tag}";'] if config.tag else []
            for field in msgspec.structs.fields(struct):
                optional = not field.required if asked else field.default is msgspec.UNSET
                written = self.written(hints[field.name], asked=asked)
                lines.append(f"  {field.encode_name}{'?' if optional else ''}: {written};")
            about = (struct.__doc__ or "").strip().splitlines()[0]
            body = ["{", *lines, "}"] if lines else ["{}"]
            self.interfaces[name] = "\n".join(
                [f"/** {about} */", f"export interface {name} {body[0]}", *body[1:]]
            )
        return name


def _page_name(struct: Any) -> str:
    """The name of a struct on the page, where an answer's own words are not taken by anything else."""
    short = struct.__name__.removesuffix("Result")
    return struct.__name__ if hasattr(sys.modules[struct.__module__], short) else short


def agent_operations_table() -> str:
    """The operations that a page may ask for, with the types of what they are asked and answered with."""
    declared = _Declared()
    operations: list[str] = []
    for operation in AGENT_OPERATIONS.values():
        if not operation.page:
            continue
        results = operation.result if isinstance(operation.result, tuple) else (operation.result,)
        request = declared.written(operation.params, asked=True)
        result = " | ".join(declared.written(one, asked=False) for one in results)
        operations.append(f"  /** {operation.about}. */")
        operations.append(f"  {operation.command}: {{ request: {request}; result: {result} }};")
    return "\n\n".join(
        [
            "// Made by tools/docs.py from packages/core/src/tacit/base/agent_operations.py; edit the declarations there instead.",
            *declared.interfaces.values(),
            "\n".join(
                [
                    "/** What each operation is asked with and answered with, by its name. */",
                    "export interface AgentOperations {",
                    *operations,
                    "}",
                ]
            ),
            "",
        ]
    ).removesuffix("\n")
