"""What a file or a symbol is, from its own text, in Markdown.  Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from accord.builtin.offline.answer_format import (
    bullets,
    counted,
    fenced,
    first_paragraph,
    first_sentence,
    listed,
)
from accord.builtin.offline.source_code.module_files import file_of
from accord.builtin.offline.source_code.references import Definition, Use, has_word
from accord.builtin.offline.source_code.symbols import Module, Symbol, language_of, module_of
from accord.builtin.tools.files.read import lines_in

CODE_LINES_MAX = 40
_MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def describe_file(path: str, files: dict[str, str]) -> str:
    """A file: what it says it is for, what it defines, what it imports and what imports it."""
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


def describe_part(path: str, text: str, first_line: int | None, files: dict[str, str]) -> str:
    """Some lines of a file: where they are, what they are in, what they define and use."""
    lines = max(lines_in(text), 1)
    place = (
        f"**`{path}`**"
        if path in files or "/" in path or "." in path
        else f"**{path.capitalize()}**"
    )
    if first_line is None:
        parts = [f"{place}, {counted(lines, 'line')}."]
    else:
        parts = [f"{place}, line {first_line} to {first_line + lines - 1}."]
    around = _around(path, files, first_line)
    if around is not None:
        said = f": {first_sentence(around.doc)}" if around.doc else "."
        parts.append(f"It is in the {around.kind} `{around.qualified}`{said}")
    name = path if language_of(path) else "pasted.py"
    module = module_of(name, textwrap.dedent(text))
    if module.symbols and not module.problem:
        defined = [one for one in _outer(module) if one.kind != "variable"]
        if defined:
            parts.append(f"It defines {listed([one.signature for one in defined])}.")
    parts.append(
        fenced("\n".join(text.split("\n")[:CODE_LINES_MAX]), (language_of(path) or "").lower())
    )
    known = _known_names(text, files)
    if known:
        parts.append(f"It names these definitions of the project:\n\n{bullets(known, 8)}")
    return "\n\n".join(parts)


def _around(path: str, files: dict[str, str], line: int | None) -> Symbol | None:
    """The innermost definition around a line of a file."""
    if line is None or path not in files:
        return None
    around = [
        one
        for one in module_of(path, files[path]).symbols
        if one.line <= line <= one.end_line and one.kind not in ("variable", "attribute")
    ]
    return max(around, key=lambda one: one.line) if around else None


def _known_names(text: str, files: dict[str, str]) -> list[str]:
    """The definitions at the top of files that a text names."""
    words = set(re.findall(r"[A-Za-z_]\w{2,}", text))
    return [
        f"`{symbol.signature}` in `{path}:{symbol.line}`"
        for path, other in files.items()
        if language_of(path) not in (None, "Markdown", "JSON", "TOML", "YAML")
        for symbol in module_of(path, other).symbols
        if symbol.depth == 0 and symbol.name in words and symbol.kind in ("function", "class")
        if f"def {symbol.name}" not in text and f"class {symbol.name}" not in text
    ]


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
        one
        for one in module.symbols
        if one.depth == 0 or (one.depth == 1 and one.kind in ("method", "property"))
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
    """A symbol: its signature, its docstring, its code, its uses."""
    symbol = definition.symbol
    kind = symbol.kind
    overloads = f", with {counted(symbol.overloads, 'overload')}" if symbol.overloads else ""
    parts = [f"**`{symbol.qualified}`** is a {kind} in `{definition.place}`{overloads}."]
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
        parts.append("I found nothing in this project that uses it by name.")
    return "\n\n".join(parts)
