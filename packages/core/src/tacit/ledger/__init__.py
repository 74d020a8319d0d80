"""CCCS: a group's history as an append-only sequence of events, and the rules of who may add what.

The modules here are pure: an admission rule is a function of the submission, the group's state and a few
look-ups. Files and threads live in `tacit.ledger.io`.
"""
