"""The outside world that every room shares: the clock, randomness, the store's discipline, the lock."""
