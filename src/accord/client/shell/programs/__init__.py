"""Well-known programs: what they do with their arguments."""
