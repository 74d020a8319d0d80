"""Shared spaces: a document that several agents keep, each a whole replica of it (A2ACP-197)."""
