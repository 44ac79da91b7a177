"""Methods that the protocol marks as unstable."""
