"""Arranging one thing between two people: goals, calendars, proposals, and what follows a yes."""
