"""The subcommands of `accord`, one module each, with `add_arguments` and `run`."""
