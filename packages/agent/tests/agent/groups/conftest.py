"""Groups are tried twice: among agents that meet for the first time, and among those that know each other."""

from __future__ import annotations

import pytest

from tests.agent.groups.circle import Circle


@pytest.fixture(params=[False, True], ids=["strangers", "acquainted"])
def acquaintance(request):
    """Strangers are asked for everything at once, acquaintances for what cannot be first."""
    Circle.acquainted = request.param
    yield request.param
    Circle.acquainted = False
