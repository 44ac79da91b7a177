"""The permission question of `accord run` at the terminal.

What always holds: input that was typed before the question is not an answer to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import anyio

from accord import Decision, PermissionRequest
from accord.cli.typed_answers import ATTEMPTS_MAX, Answers, discard_typed_input, has_keyboard
from accord.terminal.model.permissions.permission_options import closing
from accord.terminal.plain.dialogs.question_dialogs import (
    choice_words,
    explained,
    key_name,
    keyed_choices,
    question_words,
)
from accord.terminal.plain.display.output_stream import Output
from accord.terminal.plain.display.run_printer import TurnPrinter


class PermissionPrompt:
    """Asks the user at a terminal, one question at a time.

    If neither output is a terminal, the controlling terminal is used.
    """

    def __init__(
        self, descriptor: int, roots: Sequence[str], printer: TurnPrinter, out: Output
    ) -> None:
        self._folder, self._add_dirs = roots[0], roots[1:]
        self._descriptor = descriptor
        self._answers = Answers(descriptor, is_terminal=True)
        self._printer = printer
        self._out = out

    @classmethod
    def at_terminal(
        cls, roots: Sequence[str], shown: tuple[TurnPrinter, Output] | None
    ) -> PermissionPrompt | None:
        """Return a prompt for the user at `shown`, or at /dev/tty; None without a terminal.

        `roots` are the folders of the session; the question marks files elsewhere.
        """
        if has_keyboard():
            descriptor = sys.stdin.fileno()
        else:
            try:
                descriptor = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                return None
        if shown is None:
            try:
                out = Output(open("/dev/tty", "w"))  # noqa: SIM115 - open until the process exits
            except OSError:
                return None
            shown = TurnPrinter(out), out
        return cls(descriptor, roots, *shown)

    async def ask(self, request: PermissionRequest) -> Decision:
        """Return the user's answer; silence and unknown words mean no."""
        choices = keyed_choices(request, self._folder)
        meant = {word: one for key, one in choices.items() for word in (key, key_name(key))}
        self._printer.question(request, self._folder, self._add_dirs)
        self._printer.answers((key, choice_words(one)) for key, one in choices.items())
        self._answers = Answers(self._descriptor, is_terminal=True)
        discard_typed_input(self._descriptor)
        remark = ""
        try:
            for _ in range(ATTEMPTS_MAX):
                self._printer.ask(remark, question_words(choices))
                await self._out.drain()
                line = await self._answers.line()
                if line is None:
                    # Ctrl-D does not end the line.
                    self._out.write("\n")
                else:
                    self._out.answered()
                said = (line or "").strip().lower()
                # "no" is always an answer, even if the agent offers no such option.
                if not said or (said in ("n", "no") and said not in meant):
                    break
                if said == "?":
                    self._printer.answers(explained(choices), whole=True)
                    remark = ""
                    continue
                if said in meant:
                    return meant[said].decision
                remark = f"Please answer {', '.join(choices)}; ? explains them, Enter means no."
        except anyio.get_cancelled_exc_class():
            self._out.write("\n")
            raise
        return closing(request)
