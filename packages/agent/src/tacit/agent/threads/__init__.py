"""What happens between two agents about one thing: states, timers, the fold."""
