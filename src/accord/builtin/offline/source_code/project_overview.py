"""What a project is: languages, entry points, tests, its largest modules, in Markdown.  Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence

from accord.builtin.offline.answer_format import bullets, counted, first_sentence, listed
from accord.builtin.offline.source_code.references import is_test
from accord.builtin.offline.source_code.symbols import language_of, module_of
from accord.builtin.tools.files.read import lines_in

# These tell about a project, but it is not written in them.
_NOT_CODE = frozenset({"Markdown", "reStructuredText", "TOML", "YAML", "JSON"})
_MAIN = re.compile(r"^if __name__ == ['\"]__main__['\"]", re.MULTILINE)
NO_FILES = "I found no files here; what git ignores is left out."
MODULES_SHOWN_MAX = 8
MODULES_READ_MAX = 1_500
"""Modules that are parsed for their symbols; in a larger project the first are."""


def overview(
    name: str, paths: Sequence[str], files: Mapping[str, str], test_line: str | None
) -> str:
    """The answer to “what is this project?”."""
    parts = [f"**{name}**"]
    readme = readme_of(paths)
    about = "" if readme is None else about_of(files.get(readme, ""))
    if about:
        parts.append(f"> {about}\n\n(from `{readme}`)")
    code = {path: text for path, text in files.items() if _is_code(path)}
    if not code:
        parts.append(_without_code(paths))
        return "\n\n".join(parts)
    facts = [f"Languages: {_languages(code)}", *_entries(paths, files)]
    tests = [path for path in code if is_test(path)]
    if tests:
        how = f", run with `{test_line}`" if test_line else ""
        facts.append(f"Tests: {counted(len(tests), 'file')}{how}")
    else:
        facts.append("Tests: none found")
    parts.append(bullets(facts))
    parts.append(_modules(code))
    return "\n\n".join(parts)


def _is_code(path: str) -> bool:
    language = language_of(path)
    return language is not None and language not in _NOT_CODE


def _without_code(paths: Sequence[str]) -> str:
    if not paths:
        return NO_FILES
    return f"{counted(len(paths), 'file')}, none in a language that I read: {listed(paths)}."


def readme_of(paths: Sequence[str]) -> str | None:
    """Find the README at the top of the project."""
    names = sorted(path for path in paths if re.fullmatch(r"(?i)readme(\.\w+)?", path))
    return names[0] if names else None


def about_of(text: str) -> str:
    """The first paragraph of a README that is prose."""
    for block in re.split(r"\n\s*\n", text):
        line = " ".join(block.split())
        if line and line[0].isalpha() and not re.match(r"^[=\-~]{3,}$", line):
            lines = block.strip().split("\n")
            if len(lines) > 1 and re.fullmatch(r"[=\-~^]{3,}", lines[1].strip()):
                continue
            return line if len(line) <= 400 else f"{line[:399]}…"
    return ""


def _languages(code: Mapping[str, str]) -> str:
    lines: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for path, text in code.items():
        language = language_of(path) or ""
        lines[language] += text.count("\n")
        number[language] += 1
    return ", ".join(
        f"{language} ({counted(number[language], 'file')}, {counted(total, 'line')})"
        for language, total in lines.most_common(5)
    )


def _entries(paths: Sequence[str], files: Mapping[str, str]) -> list[str]:
    """How the project is started, as its files say."""
    found: list[str] = []
    try:
        scripts = tomllib.loads(files.get("pyproject.toml", ""))["project"]["scripts"]
        found.extend(f"`{name}` (`{target}`)" for name, target in sorted(scripts.items()))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        pass
    try:
        package = json.loads(files.get("package.json", ""))
        found.extend(f"`npm run {name}`" for name in sorted(package["scripts"]) if name != "test")
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    for path in paths:
        text = files.get(path, "")
        is_main = path.endswith("__main__.py") or _MAIN.search(text) is not None
        if path.endswith(".py") and not is_test(path) and is_main:
            found.append(f"`{path}`")
    if not found:
        return []
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    return [f"Entry points: {', '.join(found[:6])}{more}"]


def _modules(code: Mapping[str, str]) -> str:
    modules = {
        path: module_of(path, text)
        for path, text in list(code.items())[:MODULES_READ_MAX]
        if not is_test(path)
    }
    if not modules:
        return "All of it is tests."
    total = sum(len(module.symbols) for module in modules.values())
    largest = sorted(modules, key=lambda path: (-code[path].count("\n"), path))
    lines: list[str] = []
    for path in largest[:MODULES_SHOWN_MAX]:
        module = modules[path]
        names = [one.name for one in module.symbols if one.depth == 0 and one.kind != "variable"]
        about = f": {first_sentence(module.doc)}" if module.doc else ""
        begins = " Has" if about else ": has"
        has = f"{begins} {listed(names, 5)}." if names else ""
        number = counted(lines_in(code[path]), "line")
        lines.append(f"`{' '.join(path.split())}`, {number}{about}{has}")
    head = f"{counted(len(modules), 'module')} with {counted(total, 'symbol')}"
    if len(code) > MODULES_READ_MAX:
        head = f"In the first {MODULES_READ_MAX:,} of {len(code):,} files: {head}"
    if len(modules) > MODULES_SHOWN_MAX:
        head += f"; the {MODULES_SHOWN_MAX} largest are"
    return f"{head}:\n\n{bullets(lines)}"
