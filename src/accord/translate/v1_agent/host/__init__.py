"""Files and terminals of this machine, served to a v1 agent behind a v2 client."""
