"""The SDK's server, and standard input and output."""
