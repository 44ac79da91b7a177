"""Between today's v2 and peers that were written to the first pages about v2."""
