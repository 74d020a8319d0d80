"""Writes the published schemas from the table of packet types: a JSON Schema for each type, as received and as sent.

python tools/a2acp_schemas.py           write them
python tools/a2acp_schemas.py --check   exit 1 if one is stale
"""

from __future__ import annotations

import json
import sys

from tacit.a2acp.io.data import schemas
from tacit.a2acp.packets.published import json_schema
from tacit.a2acp.packets.schemas import TYPES

FOLDER = schemas()


def files() -> dict[str, str]:
    """Every file's name and text."""
    return {
        f"{name}.{mode}.json": json.dumps(json_schema(name, sent=mode == "sent"), indent=1) + "\n"
        for name in TYPES
        for mode in ("received", "sent")
    }


def main() -> int:
    """Write the files, or say which are stale."""
    wanted = files()
    if "--check" in sys.argv:
        there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
        stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        if stale:
            sys.stderr.write(f"stale: {', '.join(stale)}: run python tools/a2acp_schemas.py\n")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
