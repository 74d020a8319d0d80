"""Attention in the writer: the fold over the ledger's file, and what it has to say."""
