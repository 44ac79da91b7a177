"""What the user has set up: where files lie, the configuration, the permission policies."""
