"""The command line. Exit codes: 0 ok, 1 refused, 2 usage, 3 unavailable."""
