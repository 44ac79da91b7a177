"""The process that forwards bytes and the process that writes the recording."""
