"""Bridges: other protocols' clients in a room of ours."""
