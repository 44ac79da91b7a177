"""The turn of ACP v1."""
