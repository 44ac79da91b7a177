"""Session updates of a v2 agent in the form of v1, one module per kind."""
