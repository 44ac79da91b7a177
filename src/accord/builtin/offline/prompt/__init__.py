"""From the blocks of a prompt to what they ask: the newest message, and whether it is a command.

Pure: nothing here knows the project.
"""
