"""The agent side of C2A: what stands between a room and a model, so that the model has manners."""
