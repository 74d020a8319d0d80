"""The commands of scheduling: calendars, and facts about the owner."""
