"""The turn of ACP v2."""
