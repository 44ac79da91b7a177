"""The built-in agent as `run` and `chat` start it, with the model that the command line names."""

from __future__ import annotations

from accord.machine.own_program import own_command


def with_model(command: tuple[str, ...], model: str | None) -> tuple[str, ...]:
    """Tell the built-in agent which model is meant: it offers one that it does not list too.

    Any other agent's command is returned as it is.
    """
    if model is None or command != own_command("agent"):
        return command
    return (*command, "--model", model)


__all__ = ["with_model"]
