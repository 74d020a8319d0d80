"""C2A as a protocol: its messages on the wire, without the policy that decides what is said in them.

Both ends stand on this room: the hub's doors above it, the clients and harnesses beside them. What an event
means for an agent is `tacit.attention`; what was said at all is `tacit.ledger`.
"""
