"""Reading shell command lines: what a line runs, and what cannot be known before it runs.

`syntax_tree` holds the values, `scanner` reads words, `grammar` reads commands, `programs` knows
what well-known programs do with their arguments, `executed_commands` puts it all together, and
`denied_commands` compares the result with a rule.  Nothing here runs anything or looks at a file.
"""
