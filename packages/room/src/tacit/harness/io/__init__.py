"""The harness's outside: its store, its session with a hub, the door for a driver's tools, its supervisor."""
