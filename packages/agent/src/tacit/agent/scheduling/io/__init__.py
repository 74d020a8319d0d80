"""What scheduling needs of the outside: the owner's calendars and handlers, and a brain that reads a wish."""
