"""`tacit agent demo`: two or several agents, played from the wish to the calendars."""
