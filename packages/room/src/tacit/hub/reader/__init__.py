"""Readers in processes of their own, and what they can answer."""
