"""Reading shell command lines: what a line runs, and what cannot be known before it runs.

`syntax` holds the values, `scanner` reads words, `grammar` reads commands, `programs` knows what
well-known programs do with their arguments, and `reading` puts it all together.  Nothing here runs
anything or looks at a file.
"""
