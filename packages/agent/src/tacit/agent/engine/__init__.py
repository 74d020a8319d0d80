"""What an agent decides: commands in, records out; nothing here reads a file, a clock or a network."""
