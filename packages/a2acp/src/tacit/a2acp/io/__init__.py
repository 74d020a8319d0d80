"""What touches files and sockets."""
