"""A chain of proxies with an agent at its end: the conductor and its components."""
