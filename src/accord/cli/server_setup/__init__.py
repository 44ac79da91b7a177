"""What `accord serve` needs to know before it serves."""
