"""Agents that the hub runs."""
