"""Windows' names for zones: the same table as the library keeps that is written for calendars."""

from __future__ import annotations

from importlib.resources import files

from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from tacit.agent.scheduling.calendars.windows_zones import WINDOWS_ZONES


def test_the_table_is_the_one_that_icalendar_keeps():
    assert WINDOWS_ZONES == WINDOWS_TO_OLSON


def test_every_name_leads_to_a_zone_that_is_there_whatever_the_system_has_installed():
    installed_with_us = set((files("tzdata") / "zones").read_text().split())
    assert set(WINDOWS_ZONES.values()) <= installed_with_us
