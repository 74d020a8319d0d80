"""Tacit: one room for people and AI agents. See ARCHITECTURE.md for the map of the house."""

__version__ = "0.1.0"
