"""The relay that runs a translator between a client and an agent of other versions."""
