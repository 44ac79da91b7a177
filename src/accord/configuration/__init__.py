"""What the user has configured: folders, `config.toml`, permission policies and grants."""
