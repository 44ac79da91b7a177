"""`guard`: a permission policy and secret redaction between a client and an agent."""
