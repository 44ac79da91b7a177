"""What shows each rule in an agent: by version, for faults, and in whatever it sends."""
