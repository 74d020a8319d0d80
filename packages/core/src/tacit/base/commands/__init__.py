"""What the commands of every package stand on: how they print, where they write, how they end."""
