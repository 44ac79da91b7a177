"""Random shell lines that are valid, with every construct of the grammar."""

from __future__ import annotations

import random

NAMES = ("ls", "rm", "git", "a", "b1", "./run", "/bin/x", "my-tool", "echo")
VARIABLES = ("X", "HOME", "i", "a_b")
DEPTH_MAX = 4


class Generator:
    """Lines from a seed: the same seed gives the same line."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._bodies: list[str] = []

    def line(self) -> str:
        """One line, possibly with several commands and here-documents."""
        self._bodies = []
        line = self._list(0)
        return line + "".join(f"\n{body}" for body in self._bodies)

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    # ---- lists and compound commands

    def _list(self, depth: int) -> str:
        parts = [self._pipeline(depth)]
        while self._chance(0.35):
            parts += [
                self._pick(
                    "; ", " && ", " || ", " & ", ";\n" if depth == 0 and not self._bodies else "; "
                ),
                self._pipeline(depth),
            ]
        return "".join(parts)

    def _pipeline(self, depth: int) -> str:
        line = f"! {self._simple(depth)}" if self._chance(0.05) else self._command(depth)
        while self._chance(0.2):
            line += self._pick(" | ", "|", " |& ") + self._command(depth)
        return line

    def _command(self, depth: int) -> str:
        if depth >= DEPTH_MAX or self._chance(0.7):
            return self._simple(depth)
        inner = depth + 1
        forms = (
            lambda: f"( {self._list(inner)})",
            lambda: f"{{ {self._list(inner)}; }}",
            lambda: f"if {self._list(inner)}; then {self._list(inner)}; fi",
            lambda: (
                f"if {self._list(inner)}; then {self._list(inner)};"
                f" elif {self._list(inner)}; then {self._list(inner)};"
                f" else {self._list(inner)}; fi"
            ),
            lambda: f"while {self._list(inner)}; do {self._list(inner)}; done",
            lambda: f"until {self._list(inner)}; do {self._list(inner)}; done",
            lambda: (
                f"for i in {self._word(inner)} {self._word(inner)}; do {self._list(inner)}; done"
            ),
            lambda: f"for ((i=0; i<3; i++)); do {self._list(inner)}; done",
            lambda: (
                f"case {self._word(inner)} in a|b*) {self._list(inner)};;"
                f" (c) {self._list(inner)};; esac"
            ),
            lambda: f"f() {{ {self._list(inner)}; }}",
            lambda: f"function g {{ {self._list(inner)}; }}",
            lambda: f"[[ -n {self._word(inner)} && {self._word(inner)} == b ]]",
            lambda: "((i += 1))",
        )
        line = self._random.choice(forms)()
        return f"{line} {self._redirection(depth)}" if self._chance(0.1) else line

    # ---- simple commands

    def _simple(self, depth: int) -> str:
        parts: list[str] = []
        if self._chance(0.1):
            parts.append(
                f"{self._pick(*VARIABLES)}={self._pick('1', 'a', '') or self._word(depth)}"
            )
        elif self._chance(0.15):
            parts.append(self._redirection(depth))
        parts.append(self._name())
        for _ in range(self._random.randrange(4)):
            parts.append(self._word(depth))
            if self._chance(0.1):
                parts.append(self._redirection(depth))
        if self._chance(0.03):
            parts.append(f"<<E{len(self._bodies)}")
            self._bodies.append(f"body $({self._name()} h)\nE{len(self._bodies)}")
        return " ".join(parts)

    def _name(self) -> str:
        name = self._pick(*NAMES)
        if self._chance(0.1):
            return self._pick(f"'{name}'", f'"{name}"', f"{name[0]}'{name[1:]}'")
        return name

    def _redirection(self, depth: int) -> str:
        form = self._pick(">", ">>", "<", "2>", "2>>", "&>", ">|", "<<<", "2>&1", ">&2", "&>>")
        if form in ("2>&1", ">&2"):
            return form
        return form + self._pick("", " ") + self._pick("f", "/dev/null", "'a b'", '"$X"')

    def _word(self, depth: int) -> str:
        word = self._piece(depth)
        if self._chance(0.25) and not _stands_alone(word):
            more = self._piece(depth)
            word += "" if _stands_alone(more) else more
        return word

    def _piece(self, depth: int) -> str:
        if depth < DEPTH_MAX and self._chance(0.12):
            inner = depth + 1
            bodies, self._bodies = self._bodies, []
            line = self._list(inner)
            self._bodies, inside = bodies, self._bodies
            if inside:
                line = self._name()
            if line.startswith("("):
                line = f" {line}"
            return self._pick(f"$({line})", f'"$({line})"', f"<({line})", f'"a $({line}) b"')
        return self._pick(
            "a", "x1", "--flag", "-n", "--o=v", "*.py", "'single $q ; |'", '"double ; | & q"',
            "$X", '"$HOME/x"', "${X}", "${X:-d}", "${#X}", "${X%.*}", "\\;", "\\$", "a\\ b",
            "$'ansi\\n'", "$((1 + 2))", "{a,b}", "~/p", "[ab]c", "@", "%", "+x", "a=b", "$?", "$1",
            "'it'\\''s'", '"\\"quoted\\""', "1", "22",
        )  # fmt: skip


def _stands_alone(piece: str) -> bool:
    """Whether tree-sitter reads the piece differently, and wrongly, as a part of a word."""
    return piece.startswith("<(") or "\\" in piece or piece == "$1"


__all__ = ["Generator"]
