"""Calendars as they lie: on a CalDAV server, in a file."""
