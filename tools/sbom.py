"""What a release consists of, as CycloneDX JSON: our distributions, and every library that the lock pins.

A library's hashes are those of the lock: one for each file that may be installed. Its licence and what it needs come
from its metadata where the pinned version is installed here, as `make setup` has it; a library for other systems alone
has neither. Nothing is asked of a network. The same commit and environment give the same bytes.

An extra of ours that another of ours asks for is not optional: `tacit-core[http]`, required by the room, makes aiohttp
a required library.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any, Final

from tools.distributions import Distribution, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PIN: Final = re.compile(
    r"(?m)^([\w.-]+)==([^\s;]+)(?: ; ([^\n\\]+?))?((?: *\\\n +--hash=sha256:[0-9a-f]{64})*)$"
)
_NEED: Final = re.compile(r"([\w.-]+)\s*(?:\[([^\]]*)\])?")
_SPACE: Final = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True, slots=True)
class Library:
    """One pinned version of a library."""

    name: str
    version: str
    hashes: tuple[str, ...]
    line: str
    """As it stands in the lock."""
    licence: Mapping[str, Any] | None = None
    requires: tuple[str, ...] = ()
    """The names of what it needs, its extras left out."""


def libraries(lock: str) -> list[Library]:
    """What a lock file pins."""
    return [_described(match) for match in _PIN.finditer(lock)]


def _described(match: re.Match[str]) -> Library:
    name, version = canonical(match[1]), match[2]
    hashes = tuple(re.findall(r"sha256:([0-9a-f]{64})", match[4]))
    try:
        metadata = distribution(name)
    except PackageNotFoundError:
        return Library(name, version, hashes, match[0])
    if metadata.version != version:
        return Library(name, version, hashes, match[0])
    needs = names(need for need in metadata.requires or () if not re.search(r";.*\bextra\b", need))
    return Library(name, version, hashes, match[0], _licence(metadata.metadata.json), needs)


def names(requirements: Iterable[str]) -> tuple[str, ...]:
    """The names alone, each once."""
    return tuple(sorted({name_and_extras(text)[0] for text in requirements}))


def name_and_extras(requirement: str) -> tuple[str, frozenset[str]]:
    """What a requirement names: `tacit-core[cli,http]==0.1.0` is `tacit-core` with two extras."""
    match = _NEED.match(requirement.strip())
    if match is None:
        raise SystemExit(f"this is no requirement: {requirement}")
    return canonical(match[1]), frozenset(
        canonical(extra) for extra in re.findall(r"[\w.-]+", match[2] or "")
    )


def resolved(ours: Iterable[Distribution], requirements: Iterable[str]) -> set[str]:
    """The names of what these requirements ask for, and of what our own among them ask for, with their extras."""
    known = {canonical(own.name): own for own in ours}
    seen: set[tuple[str, str]] = set()
    """Each name with an extra, or with none."""
    waiting = list(requirements)
    while waiting:
        name, extras = name_and_extras(waiting.pop())
        asked = {(name, extra) for extra in ("", *extras)} - seen
        seen |= asked
        if (own := known.get(name)) is not None:
            waiting += [need for _name, extra in asked for need in _needs(own, extra)]
    return {name for name, _extra in seen}


def _needs(own: Distribution, extra: str) -> tuple[str, ...]:
    """What a distribution of ours asks for, plainly or by an extra."""
    if not extra:
        return own.requires
    if extra not in own.extras:
        raise SystemExit(f"{own.name} has no extra '{extra}'")
    return own.extras[extra]


def _licence(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """As CycloneDX writes it: an SPDX expression, or the name that the makers give."""
    if expression := metadata.get("license_expression"):
        return {"expression": expression}
    named = [line for line in metadata.get("classifier", ()) if line.startswith("License ::")]
    text = named[0].rpartition(" :: ")[2] if named else metadata.get("license", "").strip()
    return {"license": {"name": text}} if text and "\n" not in text and len(text) < 80 else None


def reached(pinned: Iterable[Library], roots: Iterable[str]) -> set[str]:
    """The libraries that these need, and what those need."""
    needs = {library.name: library.requires for library in pinned}
    seen: set[str] = set()
    waiting = [name for name in roots if name in needs]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [other for other in needs[name] if other in needs]
    return seen


def scopes(ours: Iterable[Distribution], pinned: Iterable[Library]) -> dict[str, str]:
    """Of each library: `required` by our distributions, `optional` for their extras, `excluded` (it builds them)."""
    pinned, ours = list(pinned), list(ours)
    every = [f"{own.name}[{','.join(own.extras)}]" for own in ours]
    plain = reached(pinned, resolved(ours, (own.name for own in ours)))
    extra = reached(pinned, resolved(ours, every))
    return {
        library.name: "required"
        if library.name in plain
        else "optional"
        if library.name in extra
        else "excluded"
        for library in pinned
    }


def document(ours: Mapping[Distribution, str], pinned: Iterable[Library], epoch: int) -> str:
    """The whole, as text; `ours` has the sha256 of each distribution's wheel."""
    pinned = sorted(pinned, key=lambda library: library.name)
    known = {canonical(own.name) for own in ours} | {library.name for library in pinned}
    refs = {canonical(own.name): _ref(own.name, own.version) for own in ours}
    refs |= {library.name: _ref(library.name, library.version) for library in pinned}
    needs = {
        canonical(own.name): names((*own.requires, *(need for some in own.extras.values() for need in some)))
        for own in ours
    }
    needs |= {library.name: library.requires for library in pinned}
    scope = scopes(ours, pinned)
    version = next(iter(ours)).version
    components = [
        {**_component(own.name, own.version, [digest]), "licenses": [{"expression": own.licence}]}
        for own, digest in ours.items()
    ]
    components += [
        _component(library.name, library.version, library.hashes)
        | {"scope": scope[library.name]}
        | ({"licenses": [library.licence]} if library.licence else {})
        for library in pinned
    ]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_SPACE, ' '.join(sorted(ours.values())))}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": "tacit", "name": "Tacit", "version": version},
        },
        "components": components,
        "dependencies": [
            {"ref": "tacit", "dependsOn": sorted(_ref(own.name, own.version) for own in ours)},
            *(
                {
                    "ref": refs[name],
                    "dependsOn": [refs[need] for need in needs[name] if need in known - {name}],
                }
                for name in sorted(known)
            ),
        ],
    }
    return json.dumps(bill, indent=1, sort_keys=True) + "\n"


def _ref(name: str, version: str) -> str:
    return f"pkg:pypi/{canonical(name)}@{version}"


def _component(name: str, version: str, hashes: Iterable[str]) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": _ref(name, version),
        "purl": _ref(name, version),
        "name": name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(hashes)],
    }
