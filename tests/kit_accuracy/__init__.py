"""Programs written from the rules alone, each of which breaks one rule, to measure the kit with."""
