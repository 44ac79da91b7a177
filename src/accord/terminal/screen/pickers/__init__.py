"""Lists to choose from: options, sessions, agents, actions, themes."""
