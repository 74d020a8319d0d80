"""Benches, fuzzers and tools are not run here, but none may have lost what it stands on."""

from __future__ import annotations

import importlib

import pytest

from tools.places import ROOT

DRAWS = "bench/spine/plot.py"
"""Needs the library that draws, which only benches install."""


def modules() -> list[str]:
    found = [path for folder in ("bench", "fuzz") for path in sorted((ROOT / folder).glob("**/*.py"))]
    names = [path.relative_to(ROOT) for path in found if not any(part.startswith(".") for part in path.parts)]
    return [".".join(name.with_suffix("").parts) for name in names if str(name) != DRAWS]


@pytest.mark.parametrize("name", modules())
def test_a_bench_finds_everything_that_it_imports(name):
    assert importlib.import_module(name)
