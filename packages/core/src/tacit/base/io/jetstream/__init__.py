"""What every store on JetStream stands on: connection, safe streams, lease (needs the extra `scale`)."""
