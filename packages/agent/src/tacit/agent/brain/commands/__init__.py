"""The commands about the models that an agent thinks with."""
