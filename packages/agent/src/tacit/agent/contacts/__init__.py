"""Other people's agents: how they are found and written down."""
