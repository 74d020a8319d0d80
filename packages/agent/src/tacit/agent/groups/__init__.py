"""What is particular to more than two: the list, the sums, the modes of confirming, who coordinates."""
