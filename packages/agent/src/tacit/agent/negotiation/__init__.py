"""Finding what suits both sides: goals, options, limits, conflicts."""
