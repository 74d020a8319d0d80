"""How the hub stands: health, metrics, logs."""
