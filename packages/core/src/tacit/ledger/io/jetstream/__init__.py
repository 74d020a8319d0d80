"""A ledger whose truth is a JetStream stream on other machines (needs the extra `scale`)."""
