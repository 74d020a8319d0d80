"""The personal agent as a process: journal, vault, post, calendars, actions and brain put together."""
