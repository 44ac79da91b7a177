"""Fails on phrases that are not plain English, and on docstrings that only repeat a name.

`make check` runs it over the sources, the tests and the documents.  A phrase in code font in a
document (`like this`) is not looked at, because it quotes something.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "scripts", "benchmarks", "examples", "docs")
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
# Words of others, word for word: a corpus of prompts and pages, and this list itself.
QUOTED = (
    "scripts/check_words.py",
    "src/accord/builtin/offline/prompt/command_lines.py",
    "tests/architecture/test_words.py",
    "tests/builtin/offline/prompt/everyday.py",
)

PHRASES: dict[str, str] = {
    r"\b(?:for|to|by|of|from|with|at) who\b": "name the person or program",
    r"(?:^|[\"#*.:;] +|\"\"\")Who (?:\w+s|only|had|did) (?![^.\n]*\?)\w": "name the subject",
    r"\bdef test_(?:\w*_(?:by|for|to|of)_)?who(?:ever)?_": "name the subject",
    r"\bso-manieth\b": "the n-th",
    r"\banew\b": "again",
    r"\bshall\b": "should, will or must",
    r"(?<![Tt]here )\bis no (?!longer|more\b|less\b|later|earlier|such|other|matter|one\b|good)": (
        "is not a"
    ),
    r"(?<![Tt]here )\b(?:are|were) no (?!longer|more\b|less\b|other|matter|better)": "are not",
    r"\b(?:after|for|at most|of) so (?:many|much|long|often)\b(?! (?:that|as)\b)": "this many",
}
STUB_WORDS_MAX = 3
# A docstring starts with a verb or a noun.
PRONOUNS = {"Be", "It", "Nobody", "That", "Those", "Who", "Whoever", "Whose"}
# A test's docstring says who demands it, which may take two words.
FOLDERS_OF_STUBS = ("src", "scripts", "benchmarks")


def odd_phrases(text: str) -> Iterator[tuple[int, str, str]]:
    """The line, the words and the advice for each phrase that is not plain."""
    for pattern, advice in PHRASES.items():
        for found in re.finditer(pattern, text, re.MULTILINE):
            line = text.count("\n", 0, found.start()) + 1
            yield line, found[0].strip(' "#*'), advice


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every docstring, with the line of what it describes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            said = ast.get_docstring(node)
            if said:
                yield getattr(node, "lineno", 1), said


def stubs(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Docstrings that say no more than the name does."""
    for line, said in docstrings(tree):
        if len(said.split()) <= STUB_WORDS_MAX:
            yield line, said


def without_subject(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Docstrings whose first word stands for a thing that they do not name."""
    for line, said in docstrings(tree):
        if said.split()[0] in PRONOUNS:
            yield line, said.splitlines()[0]


def complaints(path: Path) -> Iterator[str]:
    """What is wrong in one file, a line each."""
    name, text = path.relative_to(ROOT), path.read_text()
    if path.suffix == ".md":
        # Blank out code, and keep the lines where they are.
        text = re.sub(r"^```.*?^```|`[^`\n]+`", _blank, text, flags=re.DOTALL | re.MULTILINE)
    for line, words, advice in odd_phrases(text):
        yield f'{name}:{line}: "{words}": {advice}'
    if path.suffix == ".py" and name.parts[0] in FOLDERS_OF_STUBS:
        tree = ast.parse(text)
        for line, said in stubs(tree):
            yield f"{name}:{line}: a docstring that repeats the name: {said!r}"
        for line, said in without_subject(tree):
            yield f"{name}:{line}: a docstring that starts with no verb or noun: {said!r}"


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def main() -> int:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in (".py", ".md")]  # fmt: skip
    paths += [ROOT / name for name in DOCUMENTS]
    found = [
        complaint
        for path in paths
        if str(path.relative_to(ROOT)) not in QUOTED
        for complaint in complaints(path)
    ]
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
