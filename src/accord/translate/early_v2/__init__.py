"""Translation between today's v2 and peers that were written for the early drafts of v2."""
