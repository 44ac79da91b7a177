"""The conversation line by line, without a full screen."""
