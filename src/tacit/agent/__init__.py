"""A person's agent: packets, threads and the connection that carries them.

What it thinks comes in other rooms.
"""
