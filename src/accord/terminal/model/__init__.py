"""What a user sees of a conversation and may answer; no screen, no connection."""
