"""The process that passes bytes on and the process that writes the recording."""
