"""Text printed for a person: control characters escaped, lines of several writers kept apart."""
