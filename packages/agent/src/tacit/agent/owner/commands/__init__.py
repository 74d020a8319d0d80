"""The commands of the first steps and of notifications."""
