"""The benchmark of the spine: ledger, hub and doors, each beside a bare counterpart of the same run.

`python -m bench.spine` measures, saves the raw numbers, and writes the table and the picture of the docs.
"""
