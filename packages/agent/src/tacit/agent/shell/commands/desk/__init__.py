"""What waits for the owner, at a terminal: cards of questions, in lines or on a whole screen."""
