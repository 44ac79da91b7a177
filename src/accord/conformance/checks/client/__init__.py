"""What shows each rule in a client: by version, and for faults."""
