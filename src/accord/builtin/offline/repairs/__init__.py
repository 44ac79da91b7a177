"""Repairs of what a failing run shows: from an error and the files to small changes, or none.

Pure, but for `javascript/node_check.py`, which asks node whether a text is JavaScript.  A repair is
found by the error's own words and by what the project has; nothing is tried on the disk.

What always holds
    * A repair changes one file; one of its syntax makes the file parse, or parse further.
    * Where two names are as near as each other nothing is guessed.
"""
