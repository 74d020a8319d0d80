"""How a reader adds an optional part of Tacit to this very installation.

From where this copy came: a checkout, a file, an address; Python's own record of the installation says which.
No package registry is asked: what it has under our name is another project's. So no command is given either
where it would have pip look for another package of ours, which is not installed here.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import cast
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_hint(package: str, extra: str) -> str:
    """The command that adds an extra of a package (`core`, `room`, …), to stand after "add it with:"."""
    name = f"tacit-{package}"
    record = _record(name)
    source = _source(record, name, extra) if record is not None else None
    missing = _missing(name, extra)
    if source is None or missing:
        return " and ".join((f"pip, from where you got Tacit: the extra '{extra}' of {name}", *missing))
    return f"{shlex.quote(sys.executable)} -m pip install {source}"


def _record(name: str) -> dict[str, object] | None:
    """Where this package was installed from (PEP 610); None when nobody wrote that down."""
    text = _text(name, "direct_url.json")
    return cast("dict[str, object]", json.loads(text)) if text else None


def _missing(name: str, extra: str) -> list[str]:
    """The packages of ours that the extra asks for and that are not installed."""
    text = _text(name, "METADATA") or ""
    asked = re.findall(
        rf"(?m)^Requires-Dist: (tacit-\w+)[^;\n]*;.*\bextra == ['\"]{re.escape(extra)}['\"]", text
    )
    return sorted({other for other in asked if _text(other, "METADATA") is None})


def _text(name: str, file: str) -> str | None:
    """A file of what Python knows of an installed package; None where it knows nothing."""
    try:
        return distribution(name).read_text(file)
    except PackageNotFoundError:
        return None


def _source(record: dict[str, object], name: str, extra: str) -> str | None:
    """What `pip install` is given: a folder, a file or an address, with the extra."""
    url = record.get("url")
    if not isinstance(url, str):
        return None
    place = urlsplit(url)
    if place.scheme == "file":
        path = shlex.quote(f"{url2pathname(place.path)}[{extra}]")
        folder = record.get("dir_info")
        is_editable = isinstance(folder, dict) and cast("dict[str, object]", folder).get("editable") is True
        return f"-e {path}" if is_editable else path
    version_control = record.get("vcs_info")
    if isinstance(version_control, dict):
        kind = cast("dict[str, object]", version_control).get("vcs")
        revision = cast("dict[str, object]", version_control).get("requested_revision")
        url = f"{kind}+{url}@{revision}" if revision else f"{kind}+{url}"
        if folder := record.get("subdirectory"):
            url = f"{url}#subdirectory={folder}"
    return shlex.quote(f"{name}[{extra}] @ {url}")
