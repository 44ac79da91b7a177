"""A translator between a foreign peer and one end of a connection in the same process."""
