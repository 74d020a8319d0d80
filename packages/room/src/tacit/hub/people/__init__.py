"""Who a caller is, and who is there."""
