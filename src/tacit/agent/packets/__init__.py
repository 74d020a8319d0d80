"""What agents say to each other: packets, their types and the forms of their values."""
