"""The tools `glob` and `grep`, the list of a project's files, and path patterns."""
