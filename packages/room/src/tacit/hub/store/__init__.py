"""The ledger as the hub's loop sees it."""
