"""The hub: composition only. Doors on one side, the store on the other, and the flows between them."""
