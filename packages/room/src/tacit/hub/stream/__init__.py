"""The way to a ledger on a stream, with its writer in a process of its own."""
