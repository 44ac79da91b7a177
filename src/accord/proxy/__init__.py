"""Being in between: forwarding, the conductor, and the relay that carries translators."""
