"""Commands that let agents into rooms, run them and look after them."""
