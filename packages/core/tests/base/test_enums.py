from __future__ import annotations

from enum import Enum

from tacit.base.enums import quick_members


@quick_members
class Light(Enum):
    RED = "red"
    GREEN = "green"


def test_members_are_attributes_and_stay_members() -> None:
    assert vars(Light)["RED"] is Light("red") is Light["RED"]
    assert list(Light) == [Light.RED, Light.GREEN]
    assert isinstance(Light.GREEN, Light)
