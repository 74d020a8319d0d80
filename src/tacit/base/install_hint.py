"""How a reader adds an optional part of Tacit to this very installation.

From where this copy came: a checkout, a file, an address; Python's own record of the installation says which.
No package registry is asked: what it has under our name is another project's.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

DISTRIBUTION = "tacit-room"


def install_hint(extra: str) -> str:
    """The command that adds an extra, to stand after "add it with:"."""
    record = _record()
    source = _source(record, extra) if record is not None else None
    if source is None:
        return f"pip, from where you got Tacit, with its extra '{extra}'"
    return f"{shlex.quote(sys.executable)} -m pip install {source}"


def _record() -> dict[str, object] | None:
    """Where this copy was installed from (PEP 610); None when nobody wrote that down."""
    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return cast("dict[str, object]", json.loads(text)) if text else None


def _source(record: dict[str, object], extra: str) -> str | None:
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
    return shlex.quote(f"{DISTRIBUTION}[{extra}] @ {url}")
