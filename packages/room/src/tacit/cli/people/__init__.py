"""Commands about groups and who is in them."""
