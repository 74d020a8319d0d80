"""What the nodes of one ledger say to each other."""
