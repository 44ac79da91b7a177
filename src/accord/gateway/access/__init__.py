"""Access to a gateway: credentials, rights, and the limits of each user."""
