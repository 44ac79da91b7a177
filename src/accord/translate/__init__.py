"""Between the versions: what one says, in the words of another.  Pure."""
