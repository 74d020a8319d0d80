"""What may leave: questions to the owner, their answers, and the only way out."""
