"""When its owner is free: calendars from files and servers."""
