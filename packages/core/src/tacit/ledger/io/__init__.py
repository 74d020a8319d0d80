"""The ledger on disk: journal, read model, blobs, and the one writer that ties them together."""
