"""The scenarios that come with the kit, as data."""
