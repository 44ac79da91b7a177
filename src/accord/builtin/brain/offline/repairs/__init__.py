"""Repairs of what a failing run shows: from an error and the files to one small change, or none.

Pure.  A repair is found by the error's own words and the names that are there; nothing is tried
on the disk.

What always holds
    * A repair changes one file, and the changed file parses further than before.
    * Where two names are as near as each other nothing is guessed.
"""
