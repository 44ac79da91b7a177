"""A project's source code, read without running it: symbols, references, scopes, renames."""
