"""The terminal client: `accord chat`, full screen or line by line.

model    what a user sees and may answer, without a screen
engine   the agents and sessions behind it
render   entries of a conversation as lines of a terminal
screen   the full screen, with Textual
plain    the same in lines, for screen readers, pipes and dumb terminals

Imports point down in this list read from below: screen and plain know engine and render, these
know the model, and the model knows neither Textual nor Rich.
"""
