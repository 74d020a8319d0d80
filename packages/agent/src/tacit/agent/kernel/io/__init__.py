"""Where decisions become durable: the journal, the vault beside it, and who follows the changes."""
