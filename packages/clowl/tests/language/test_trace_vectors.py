"""Every output of one log, whole: the page, the tree, the diagram, the data and the spans are as they were read once.

`python -m tests.language.test_trace_vectors` writes them anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tacit.language import parse, reconstruct
from tacit.language.io.opentelemetry import export
from tacit.language.spans import otlp
from tacit.language.trace_data import chronicle_value
from tacit.language.trace_html import page
from tacit.language.trace_text import chronicle_lines, mermaid, timeline
from tests.language.cast import VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.language.trace import Chronicle

TRACES = VECTORS / "traces"


def _chronicle() -> Chronicle:
    return reconstruct(map(parse, (TRACES / "incident.log").read_bytes().splitlines()))


def _lines(found: list[str]) -> str:
    return "".join(f"{line}\n" for line in found)


def _page(found: Chronicle) -> str:
    # How it looks is the style sheet's business; one tag a line, so that a difference can be read.
    return re.sub(r"<style>.*?</style>", "", page(found), flags=re.DOTALL).replace("><", ">\n<") + "\n"


def _exported(found: Chronicle) -> list[dict[str, Any]]:
    exporter = InMemorySpanExporter()
    export(found.traces.values(), exporter)
    return [json.loads(span.to_json()) for span in exporter.get_finished_spans()]


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


OUTPUTS: dict[str, Callable[[Chronicle], str]] = {
    "page.html": _page,
    "tree.txt": lambda found: _lines(list(chronicle_lines(found))),
    "timeline.txt": lambda found: _lines(list(timeline(found.timeline, verbose=True))),
    "diagram.mmd": lambda found: _lines([line for tree in found.traces.values() for line in mermaid(tree)]),
    "data.txt": lambda found: _json(chronicle_value(found)),
    "otlp.txt": lambda found: _json(otlp(found.traces.values())),
    "exported.txt": lambda found: _json(_exported(found)),
}


@pytest.mark.spec("CLOWL-018", "CLOWL-067", "CLOWL-075", "CLOWL-078", "CLOWL-079")
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_of_a_log_is_as_it_was_read_once(name: str) -> None:
    assert OUTPUTS[name](_chronicle()) == (TRACES / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for output, make in OUTPUTS.items():
        Path(TRACES, output).write_text(make(_chronicle()), encoding="utf-8")
