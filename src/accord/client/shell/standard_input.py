"""The standard input of a command, as far as the line shows it."""

from __future__ import annotations

from dataclasses import dataclass

from accord.client.shell.syntax import SimpleCommand, Word


@dataclass(frozen=True, slots=True)
class Input:
    """The standard input of a command; `text` where the line shows it."""

    text: Word | None = None
    is_empty: bool = False
    is_given: bool = False
    # Whether the program stands among the words of another, and may be none.
    nested: bool = False


def input_of(command: SimpleCommand) -> Input:
    """The standard input of a command, by its redirections; the last one counts."""
    found = Input(is_given=command.piped)
    for one in command.redirections:
        if one.is_input:
            empty = one.operator == "<" and one.target.text == "/dev/null"
            found = Input(one.body, empty, is_given=True)
    return found


__all__ = ["Input", "input_of"]
