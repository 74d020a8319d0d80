"""English about days, times and zones, read into stretches of time or into questions."""
