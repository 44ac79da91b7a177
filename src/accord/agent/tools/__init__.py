"""What a turn shows and asks: tool calls, files, permissions and forms."""
