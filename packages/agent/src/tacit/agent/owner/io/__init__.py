"""First steps, hints, notices and notifications as an agent carries them out."""
