"""Places of a name in a text, from the nodes of its syntax tree.

Nodes count columns in bytes and some have no place for their name at all; here they become
columns of characters, each checked against the text before it counts.

What always holds
    * A span is exactly the name, as a whole word, in the text.
"""

from __future__ import annotations

import ast
import io
import re

Span = tuple[int, int, int]
"""Line from 1, first column, and the column after the last."""


class Spans:
    """Collects the places of one name in one text."""

    def __init__(self, text: str, name: str) -> None:
        self._lines = lines_of(text)
        self._name = name
        self._word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        self._seen: set[Span] = set()
        # Places that should be there and were not seen in the text; nobody changes those.
        self.missed = 0

    @property
    def found(self) -> list[Span]:
        """What was found, in order."""
        return sorted(self._seen)

    def _add(self, line: int, column: int) -> None:
        """Take a place if the name is really there."""
        here = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        match = self._word.match(here, column)
        if match is None:
            self.missed += 1
        else:
            self._seen.add((line, match.start(), match.end()))

    def _column(self, line: int, column_bytes: int) -> int:
        if not 0 < line <= len(self._lines):
            return 0
        before = self._lines[line - 1].encode("utf-8", "surrogatepass")[:column_bytes]
        return len(before.decode("utf-8", "ignore"))

    def add_name(self, node: ast.Name) -> None:
        """Add a plain name."""
        self._add(node.lineno, self._column(node.lineno, node.col_offset))

    def add_attribute(self, node: ast.Attribute) -> None:
        """What stands after the dot; it is the end of its node."""
        line = node.end_lineno or node.lineno
        end = self._column(line, node.end_col_offset or 0)
        self._add(line, end - len(self._name))

    def add_alias(self, node: ast.alias) -> None:
        """The name that is imported."""
        self._add(node.lineno, self._column(node.lineno, node.col_offset))

    def add_keyword(self, node: ast.keyword) -> None:
        """The name before the `=` of an argument."""
        self._add(node.lineno, self._column(node.lineno, node.col_offset))

    def add_argument(self, node: ast.arg) -> None:
        """The name of a parameter."""
        self._add(node.lineno, self._column(node.lineno, node.col_offset))

    def add_string(self, node: ast.Constant) -> None:
        """A string that is the name."""
        line = self._lines[node.lineno - 1]
        start = self._column(node.lineno, node.col_offset)
        # Written in pieces, or with escapes, it is not to be found: then nobody changes it.
        opening = re.compile(r"[A-Za-z]?(?:\"\"\"|'''|\"|')").match(line, start)
        self._add(node.lineno, start if opening is None else opening.end())

    def add_after(self, node: ast.stmt | ast.ExceptHandler, words: tuple[str, ...]) -> None:
        """The name in a header, behind one of the words."""
        header = re.compile(rf"\b(?:{'|'.join(words)})\s+(?={re.escape(self._name)}(?!\w))")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            match = header.search(self._lines[line - 1])
            if match is not None:
                self._add(line, match.end())
                return
        self.missed += 1

    def add_within(self, node: ast.stmt) -> None:
        """Every whole word in a statement that is only names."""
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            for match in self._word.finditer(self._lines[line - 1]):
                self._add(line, match.start())


def lines_of(text: str) -> list[str]:
    """Lines with their ends, as Python counts them: a form feed ends none."""
    return io.StringIO(text, newline="").readlines()


def replaced(text: str, spans: list[Span], new: str) -> str:
    """The text with every span replaced."""
    lines = lines_of(text)
    for line, start, end in sorted(spans, reverse=True):
        whole = lines[line - 1]
        lines[line - 1] = whole[:start] + new + whole[end:]
    return "".join(lines)
