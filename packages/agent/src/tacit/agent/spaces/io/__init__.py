"""What an owner can ask about shared spaces, and the links that invite into them."""
