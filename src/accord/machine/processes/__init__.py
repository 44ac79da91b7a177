"""Child processes and all that they start: process groups, descendants, shutdown."""
