"""What a transcript shows: messages, tool calls, plans, terminals, options and other items."""
