"""From what was said to what each agent gets: directedness, policy, mode, and the rule behind each."""
