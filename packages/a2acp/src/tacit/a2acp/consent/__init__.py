"""What may leave: tiers, approvals, the filter that alone makes a packet fit to be sent."""
