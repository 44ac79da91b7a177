"""The scenarios that come with the kit: data only."""
