"""One decision of an agent and what lasts of it: state, records, fold, timers; it knows no feature."""
