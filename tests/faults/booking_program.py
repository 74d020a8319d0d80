"""A service that books a table once for each action id: `python -m tests.faults.booking_program FILE do|undo`."""

import json
import pathlib
import sys

book, what = pathlib.Path(sys.argv[1]), sys.argv[2]
asked = json.loads(sys.stdin.read())
known = book.read_text().split() if book.exists() else []
ident = asked["action_id"]
if what == "do" and ident not in known:
    with book.open("a") as lines:
        lines.write(ident + "\n")
