"""Commands of an operator: run a hub, back it up, look after its ledger and its clock."""
