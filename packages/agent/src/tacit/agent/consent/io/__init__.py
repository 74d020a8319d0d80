"""What was disclosed under which answer, and the settings that allow it."""
