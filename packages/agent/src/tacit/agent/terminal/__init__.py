"""What commands of several features need at a terminal."""
