"""Runs of the kit: the judged program, the checks, and the verdicts."""
