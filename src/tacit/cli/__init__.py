"""The command line: one module a group, registered in `main`."""
