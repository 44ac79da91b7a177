"""The file of `accord serve --config`: agents, users, identity provider, limits, listener."""
