"""JavaScript as far as a repair needs it: what is code in a text, and which names it declares."""

from __future__ import annotations

import re
from collections.abc import Mapping

ENDINGS = (".js", ".cjs", ".mjs")

# Strings, templates, comments, and regular expressions where a value may begin.
_NO_CODE = re.compile(
    r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/"
    r"|(?<=[=(,:\[!&|?{};+\n])\s*/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[*])(?:\\.|\[(?:\\.|"
    r"[^\]\\\n])*\]|[^/\\\n\[])*/[a-z]*",
    re.DOTALL,
)
_NAME = r"[A-Za-z_$][\w$]*"
_DECLARED = (
    re.compile(rf"\b(?:var|let|const|function\*?|class)\s+({_NAME})"),
    re.compile(rf"\bcatch\s*\(\s*({_NAME})"),
    re.compile(rf"(?<![\w$.])({_NAME})\s*=>"),
)
_LISTS = (
    re.compile(rf"\bfunction\b\s*\*?\s*(?:{_NAME})?\s*\(([^()]*)\)"),
    re.compile(r"\(([^()]*)\)\s*=>"),
    re.compile(r"\b(?:var|let|const)\s*[{\[]([^}\]]*)[}\]]\s*="),
    re.compile(r"\bimport\s*(?:[\w$*]+\s*,\s*)?\{([^}]*)\}"),
    re.compile(rf"^\s*(?:static\s+|async\s+|get\s+|set\s+)*{_NAME}\s*\(([^()]*)\)\s*\{{", re.M),
)
_MORE = re.compile(rf",\s*({_NAME})\s*(?:=(?!=)|,|;|$)", re.M)
_IMPORTED = re.compile(rf"\bimport\s+(?:\*\s+as\s+)?({_NAME})")


def is_script(path: str) -> bool:
    """Whether a file is JavaScript that node reads as it is."""
    return path.endswith(ENDINGS)


def code_of(text: str) -> str:
    """The text with strings, comments and regular expressions blanked, and as long."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return _NO_CODE.sub(blank, text)


def declared_in(text: str) -> set[str]:
    """The names that a text declares, in whatever scope."""
    code = code_of(text)
    names = {match for pattern in (*_DECLARED, _IMPORTED) for match in pattern.findall(code)}
    for pattern in _LISTS:
        for inner in pattern.findall(code):
            names.update(re.findall(_NAME, inner))
    for statement in re.findall(r"\b(?:var|let)\s[^;]*;", code):
        names.update(_MORE.findall(statement))
    return names


def scripts_in(files: Mapping[str, str]) -> dict[str, str]:
    """The JavaScript among the files."""
    return {path: text for path, text in files.items() if is_script(path)}


def with_identifier(text: str, wrong: str, right: str, line: int | None = None) -> str | None:
    """The text with a plain name exchanged, in one line or everywhere; properties stay."""
    pattern = re.compile(rf"(?<![\w$.]){re.escape(wrong)}(?![\w$])(?!\s*:(?!:))")
    return _exchanged(text, pattern, right, line)


def with_property(text: str, wrong: str, right: str, line: int) -> str | None:
    """The text with `.wrong` exchanged in one line."""
    pattern = re.compile(rf"(?<=\.){re.escape(wrong)}(?![\w$])")
    return _exchanged(text, pattern, right, line)


def _exchanged(text: str, pattern: re.Pattern[str], right: str, line: int | None) -> str | None:
    code = code_of(text)
    found = [
        match
        for match in pattern.finditer(code)
        if line is None or code.count("\n", 0, match.start()) + 1 == line
    ]
    for match in reversed(found):
        text = text[: match.start()] + right + text[match.end() :]
    return text if found else None
