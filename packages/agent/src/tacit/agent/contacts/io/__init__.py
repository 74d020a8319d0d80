"""Whom a request is for, and looking an agent up."""
