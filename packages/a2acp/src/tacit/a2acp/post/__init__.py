"""The agent's end of the post: sealed packets out and in, kept until the other side has them."""
