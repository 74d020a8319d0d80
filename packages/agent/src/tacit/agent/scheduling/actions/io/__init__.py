"""Handlers that reach the world: a calendar, a web address, a program."""
