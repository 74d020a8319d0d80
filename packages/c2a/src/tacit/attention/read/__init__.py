"""From an event to what it says: author, place, aim, intent. Knows no agent's policy."""
