"""Servers for hubs of several nodes: those that the tests of the stream have."""

from __future__ import annotations

from tests.ledger.io.jetstream.conftest import cluster, server

__all__ = ["cluster", "server"]
