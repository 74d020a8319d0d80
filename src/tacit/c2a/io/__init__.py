"""The shells of the protocol: what waits."""
