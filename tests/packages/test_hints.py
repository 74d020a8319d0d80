"""Every command that the product prints to add something names an extra that the package has."""

from __future__ import annotations

import re
from importlib.metadata import distribution

from tacit.harness.drivers.catalogue import CATALOGUE
from tools.distributions import distributions
from tools.places import ROOT, modules

_ASKED = re.compile(r"(?:install_hint|mcp_missing)\(['\"](\w+)['\"](?:, ['\"](\w+)['\"])?\)")


def test_every_hint_of_the_product_names_an_extra_that_its_package_has() -> None:
    extras = {
        own.folder.name: set(distribution(own.name).metadata.get_all("Provides-Extra") or ())
        for own in distributions(ROOT)
    }
    asked = {
        (package, extra or "mcp")
        for path, _ in modules()
        for package, extra in _ASKED.findall(path.read_text(encoding="utf-8"))
    }
    asked |= {("room", driver.extra) for driver in CATALOGUE if driver.extra}
    assert {("room", "mcp"), ("agent", "mcp"), ("core", "cli"), ("room", "codex")} <= asked
    assert [(package, extra) for package, extra in sorted(asked) if extra not in extras[package]] == []
