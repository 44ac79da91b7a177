"""What a file or a symbol is, from its own text, in Markdown.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accord.builtin.brain.offline.modules import file_of
from accord.builtin.brain.offline.references import Definition, Use, has_word
from accord.builtin.brain.offline.symbols import Module, Symbol, language_of, module_of
from accord.builtin.brain.offline.wording import (
    bullets,
    counted,
    fenced,
    first_paragraph,
    first_sentence,
    listed,
)

CODE_LINES_MAX = 40
_MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def describe_file(path: str, files: dict[str, str]) -> str:
    """A file: what it says it is for, what it defines, what it needs and who needs it."""
    text = files[path]
    module = module_of(path, text)
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    parts = [f"**`{path}`**, {module.language or 'text'}, {counted(lines, 'line')}."]
    if module.problem:
        parts.append(f"It does not parse: {module.problem}.")
    if module.doc:
        parts.append(f"> {first_paragraph(module.doc)}")
    if module.language in ("Markdown", "reStructuredText", ""):
        parts.extend(_prose(text))
    if module.imports:
        parts.append(f"It imports {listed(module.imports, 12)}.")
    if module.symbols:
        parts.append(f"It defines:\n\n{bullets(_symbol_line(one) for one in _outer(module))}")
    users = importers(path, files)
    if users:
        parts.append(f"It is used by {listed(users)}.")
    marks = [
        f"line {number}: `{line.strip()}`"
        for number, line in enumerate(text.split("\n"), start=1)
        if _MARKS.search(line)
    ]
    if marks:
        parts.append(f"Left to do:\n\n{bullets(marks, 8)}")
    return "\n\n".join(parts)


def _prose(text: str) -> list[str]:
    headings = re.findall(r"^#{1,3} +(.+)$", text, re.MULTILINE)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text)]
    first = next((block for block in blocks if block[:1].isalpha()), "")
    found = [f"> {' '.join(first.split())[:400]}"] if first else []
    if headings:
        found.append(f"Headings:\n\n{bullets(headings)}")
    return found


def _outer(module: Module) -> list[Symbol]:
    return [
        one for one in module.symbols if one.depth == 0 or (one.depth == 1 and one.kind == "method")
    ]


def _symbol_line(symbol: Symbol, of_class: str = "in its class, ") -> str:
    about = f": {first_sentence(symbol.doc)}" if symbol.doc else ""
    return f"{of_class if symbol.depth else ''}`{symbol.signature}` (line {symbol.line}){about}"


def importers(path: str, files: dict[str, str]) -> list[str]:
    """The Python files that import this one."""
    if not path.endswith(".py"):
        return []
    stem = path.rpartition("/")[2].removesuffix(".py")
    word = path.split("/")[-2] if stem == "__init__" and "/" in path else stem
    found: list[str] = []
    for other, text in files.items():
        if other == path or not other.endswith(".py") or not has_word(text, word):
            continue
        for name in module_of(other, text).imports:
            level = len(name) - len(name.lstrip("."))
            module = name.lstrip(".")
            if file_of(files, other, module, level) == path or (
                _names(text, module, word, level)
                and (file_of(files, other, f"{module}.{word}" if module else word, level) == path)
            ):
                found.append(other)
                break
    return found


def _names(text: str, module: str, word: str, level: int) -> bool:
    """Whether `from module import word` stands in a text."""
    dots = "." * level
    pattern = rf"from\s+{re.escape(dots + module)}\s+import\s[^\n]*\b{re.escape(word)}\b"
    return re.search(pattern, text) is not None


def describe_symbol(definition: Definition, text: str, uses: Sequence[tuple[str, Use]]) -> str:
    """A symbol: its signature, what it says, its code, who uses it."""
    symbol = definition.symbol
    kind = symbol.kind
    parts = [f"**`{symbol.qualified}`** is a {kind} in `{definition.place}`."]
    if symbol.doc:
        parts.append("\n".join(f"> {line}".rstrip() for line in symbol.doc.split("\n")[:15]))
    lines = text.split("\n")[symbol.line - 1 : symbol.end_line]
    code = "\n".join(lines[:CODE_LINES_MAX])
    parts.append(fenced(code, (language_of(definition.path) or "").lower()))
    if len(lines) > CODE_LINES_MAX:
        parts.append(f"… and {counted(len(lines) - CODE_LINES_MAX, 'more line', 'more lines')}.")
    if kind == "class":
        members = [
            one
            for one in module_of(definition.path, text).symbols
            if one.qualified.startswith(f"{symbol.qualified}.") and one.depth == symbol.depth + 1
        ]
        if members:
            parts.append(f"It has:\n\n{bullets(_symbol_line(one, '') for one in members)}")
    others = [(path, use) for path, use in uses if use.kind != "definition"]
    calls = [(path, use) for path, use in others if use.kind == "call"] or others
    if calls:
        head = f"Used in {counted(len(calls), 'place')}:"
        shown = bullets(
            (
                f"`{path}:{use.line}`{f' in `{use.inside}`' if use.inside else ''}: `{use.text}`"
                for path, use in calls
            ),
            8,
        )
        parts.append(f"{head}\n\n{shown}")
    else:
        parts.append("Nothing in this project uses it by name.")
    return "\n\n".join(parts)
