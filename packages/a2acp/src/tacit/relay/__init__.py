"""The blind relay.

Mailbox, quota, registration, federation. Imports the wire and the ground, nothing else.
"""
