"""Text of others made fit for a terminal: letters, colours, output, differences."""
