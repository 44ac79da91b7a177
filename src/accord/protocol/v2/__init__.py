"""The turn of ACP v2, which v1 shares, and how it ends."""
