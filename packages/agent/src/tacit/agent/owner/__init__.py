"""Reaching the owner: first steps, hints, notices and notifications."""
