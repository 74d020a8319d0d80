"""The harness's outside: its store, its line to the hub, the door for its driver's tools, its supervisor."""
