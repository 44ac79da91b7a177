"""How a project's tests and tasks are run, and what their output says.  Pure."""
