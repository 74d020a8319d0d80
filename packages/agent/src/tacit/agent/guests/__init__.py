"""People without an agent: asked by a link or in words, answered by tapping, remembered in nothing."""
