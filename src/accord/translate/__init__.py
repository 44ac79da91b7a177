"""Translation between the versions: messages of one in the form of another.  Pure."""
