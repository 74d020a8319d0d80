"""Where the language touches files and the network: resolvers for `ctx.ref`, and monitoring."""
