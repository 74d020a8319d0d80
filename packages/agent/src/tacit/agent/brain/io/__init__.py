"""Thinking as it runs: models one after another, what they cost, which were chosen."""
