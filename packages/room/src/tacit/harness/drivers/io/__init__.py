"""Where drivers touch the world: processes, pipes and sockets."""
