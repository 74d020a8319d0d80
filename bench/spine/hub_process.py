"""The hub under test, in a process of its own: default limits, a free port, one JSON line when it is ready."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvloop

from bench.spine.processes import raise_open_files
from tacit.base.stream_plan import StreamPlan
from tacit.hub.config import HubConfig, default_writer
from tacit.hub.server import Server


def ready(server: Server) -> None:
    print(json.dumps({"port": server.port, "token": server.hub.owner_token}), flush=True)


if __name__ == "__main__":
    raise_open_files()
    writer = sys.argv[2] if len(sys.argv) > 2 else default_writer()
    # The stream's name, how many servers keep it, how long a lease lasts, and the servers.
    name, replicas, lease, *servers = sys.argv[3:] or ("", "0", "0")
    stream = StreamPlan(tuple(servers), name, int(replicas), lease_seconds=float(lease)) if servers else None
    uvloop.run(Server(HubConfig(data=Path(sys.argv[1]), port=0, writer=writer, stream=stream)).run(ready))
