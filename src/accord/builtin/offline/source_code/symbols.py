"""What a source file defines, by reading it: Python by its syntax tree, others by patterns.

Pure: text in, values out.  A file that does not parse gives what its lines show.

What always holds
    * Lines count from 1 and are lines of the text.
    * A file is read within bounds; what is beyond them is left out.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

SOURCE_CHARACTERS_MAX = 1_000_000
"""A longer file was made by a program; it is not read for symbols."""

SYMBOLS_MAX = 2_000
"""Symbols of one file; what follows is left out."""

MODULES_KEPT = 512
"""Files whose symbols are remembered, so that the next question is answered at once."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition in a source file."""

    name: str
    qualified: str
    kind: str
    line: int
    end_line: int
    signature: str
    doc: str = ""
    # Signatures that only tell a type checker how it may be called.
    overloads: int = 0

    @property
    def depth(self) -> int:
        """How many definitions it is inside of."""
        return self.qualified.count(".")


@dataclass(frozen=True, slots=True)
class Module:
    """What one file defines, says about itself and imports."""

    language: str
    doc: str = ""
    imports: tuple[str, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    # Why it could not be parsed; its symbols come from its lines then.
    problem: str = ""


LANGUAGES = {
    "py": "Python", "pyi": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "jsx": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "rs": "Rust", "go": "Go",
    "java": "Java", "kt": "Kotlin", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++",
    "cs": "C#", "rb": "Ruby", "php": "PHP", "swift": "Swift", "sh": "Shell", "lua": "Lua",
    "html": "HTML", "css": "CSS", "sql": "SQL", "md": "Markdown", "rst": "reStructuredText",
    "toml": "TOML", "yaml": "YAML", "yml": "YAML", "json": "JSON", "zig": "Zig",
}  # fmt: skip


def language_of(path: str) -> str | None:
    """The language that a file's ending stands for."""
    name = path.rpartition("/")[2]
    return LANGUAGES.get(name.rpartition(".")[2].lower()) if "." in name else None


KEPT_CHARACTERS_MAX = 100_000
"""A longer file is parsed again for each question."""


def module_of(path: str, text: str) -> Module:
    """What a file defines."""
    return _kept(path, text) if len(text) <= KEPT_CHARACTERS_MAX else _read(path, text)


def _read(path: str, text: str) -> Module:
    language = language_of(path) or ""
    if len(text) > SOURCE_CHARACTERS_MAX:
        return Module(language, problem="it is too long to be read")
    if language != "Python":
        return Module(language, symbols=tuple(_by_pattern(language, text)))
    tree = parsed(text)
    if not isinstance(tree, ast.Module):
        return Module(language, symbols=tuple(_by_pattern(language, text)), problem=tree)
    try:
        symbols = tuple(_walk(tree, ""))[:SYMBOLS_MAX]
    except RecursionError:
        return Module(language, _doc(tree), problem="an expression in it is nested too deeply")
    return Module(language, _doc(tree), tuple(_imports(tree)), symbols)


_kept = lru_cache(MODULES_KEPT)(_read)


def parsed(text: str) -> ast.Module | str:
    """The syntax tree of a Python text, or why there is none."""
    try:
        with warnings.catch_warnings():
            # Do not warn about odd escapes in the strings of the project.
            warnings.simplefilter("ignore")
            # Replace a byte order mark and form feeds, which are not code, without moving columns.
            return ast.parse(f"\f{text[1:]}" if text.startswith("\ufeff") else text)
    except SyntaxError as error:
        place = "" if error.lineno is None else f" in line {error.lineno}"
        return f"{error.msg}{place}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"it cannot be parsed: {str(error) or type(error).__name__}"


def _walk(node: ast.AST, prefix: str) -> Iterator[Symbol]:
    """The definitions in a tree, outer before inner, in order."""
    parts = _parts_of_one(node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if child in parts.merged:
                continue
            qualified = f"{prefix}{child.name}"
            symbol = _definition(child, qualified, isinstance(node, ast.ClassDef))
            overloads = parts.overloads.get(child.name, 0)
            if child in parts.properties:
                symbol = replace(symbol, kind="property", end_line=parts.properties[child])
            elif overloads and isinstance(child, FUNCTIONS):
                symbol = replace(symbol, overloads=overloads)
            yield symbol
            yield from _walk(child, f"{qualified}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign) and isinstance(
            node, ast.Module | ast.ClassDef
        ):
            yield from _assigned(child, prefix)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _walk(child, prefix)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class _Parts:
    """Functions of one block that are one definition: overloads, the parts of a property."""

    # Those that are told with another one.
    merged: set[ast.AST]
    # The getters, and the last line of what belongs to each.
    properties: dict[ast.AST, int]
    # How many overloads a name has.
    overloads: dict[str, int]


def _parts_of_one(node: ast.AST) -> _Parts:
    parts = _Parts(set(), {}, {})
    functions = [child for child in ast.iter_child_nodes(node) if isinstance(child, FUNCTIONS)]
    getters: dict[str, ast.AST] = {}
    signatures: dict[str, list[ast.AST]] = {}
    for child in functions:
        marks = [ast.unparse(one) for one in child.decorator_list]
        if any(mark.rpartition(".")[2] == "overload" for mark in marks):
            signatures.setdefault(child.name, []).append(child)
        elif any(mark.rpartition(".")[2].endswith("property") for mark in marks):
            getters[child.name] = child
            parts.properties[child] = child.end_lineno or child.lineno
        elif child.name in getters and any(
            mark in (f"{child.name}.{part}" for part in ("getter", "setter", "deleter"))
            for mark in marks
        ):
            parts.merged.add(child)
            parts.properties[getters[child.name]] = child.end_lineno or child.lineno
        elif child.name in signatures:
            parts.merged.update(signatures[child.name])
            parts.overloads[child.name] = len(signatures.pop(child.name))
    for name, nodes in signatures.items():
        # As in a stub: there is no other definition, so the first stands for all.
        parts.merged.update(nodes[1:])
        parts.overloads[name] = len(nodes)
    return parts


def _definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, qualified: str, in_class: bool
) -> Symbol:
    if isinstance(node, ast.ClassDef):
        kind, signature = "class", _class_line(node)
    else:
        kind = "method" if in_class else "function"
        signature = _function_line(node)
    end = node.end_lineno or node.lineno
    return Symbol(node.name, qualified, kind, node.lineno, end, signature, _doc(node))


def _class_line(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in [*node.bases, *node.keywords])
    return f"class {node.name}({bases})" if bases else f"class {node.name}"


def _function_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}"


def _assigned(node: ast.Assign | ast.AnnAssign, prefix: str) -> Iterator[Symbol]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    kind = "attribute" if prefix else "variable"
    for target in targets:
        if isinstance(target, ast.Name):
            end = node.end_lineno or node.lineno
            line = _shortened(ast.unparse(node).partition("\n")[0])
            yield Symbol(target.id, f"{prefix}{target.id}", kind, node.lineno, end, line)


def _shortened(line: str, characters_max: int = 100) -> str:
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"


def _doc(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return (ast.get_docstring(node) or "").strip()


def _imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a file names in its imports, each once."""
    seen: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        for name in names:
            if name not in seen:
                seen.add(name)
                yield name


# One pattern a definition; the group is its name.  Good enough to find a place, no more.
_NAMED = r"(?P<name>[A-Za-z_$][\w$]*)"
_SCRIPT = (
    ("function", rf"(?:export\s+(?:default\s+)?)?(?:async\s+)?function\s*\*?\s*{_NAMED}"),
    ("class", rf"(?:export\s+(?:default\s+)?)?(?:abstract\s+)?class\s+{_NAMED}"),
    ("function", (rf"(?:export\s+)?(?:const|let|var)\s+{_NAMED}\s*(?::[^=]+)?=\s*(?:async\s*)?"
                  r"(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|\w+\s*=>)")),
    ("type", rf"(?:export\s+)?(?:interface|type|enum)\s+{_NAMED}"),
    ("variable", rf"(?:export\s+)?const\s+{_NAMED}\s*(?::[^=]+)?="),
)  # fmt: skip
_C = (
    ("type", rf"(?:typedef\s+)?(?:struct|enum|union|class|namespace)\s+{_NAMED}\s*[{{:]"),
    ("macro", rf"#\s*define\s+{_NAMED}"),
    ("function", rf"(?:[A-Za-z_][\w:<>]*[\s*&]+)+{_NAMED}\s*\([^;]*\)\s*(?:const\s*)?\{{?\s*$"),
)
_TYPED = (
    ("class", (r"\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|"
               r"data|partial)\s+)*"
               rf"(?:class|interface|enum|record|object|struct|protocol)\s+{_NAMED}")),
    ("function", (r"\s*(?:(?:public|private|protected|internal|static|final|abstract|override|"
                  rf"suspend|open|async|virtual)\s+)*(?:func?|(?:[\w<>\[\],.?]+))\s+{_NAMED}\s*"
                  r"\([^;]*\)[^;]*\{\s*$")),
)  # fmt: skip
_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "Python": (
        ("function", rf"\s*(?:async\s+)?def\s+{_NAMED}"),
        ("class", rf"\s*class\s+{_NAMED}"),
    ),
    "JavaScript": _SCRIPT,
    "TypeScript": _SCRIPT,
    "Rust": (
        ("function", rf"\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*fn\s+{_NAMED}"),
        ("type", rf"\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|type|mod|union)\s+{_NAMED}"),
        ("variable", rf"\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?{_NAMED}\s*:"),
    ),
    "Go": (
        ("function", rf"func\s+(?:\([^)]*\)\s*)?{_NAMED}\s*[(\[]"),
        ("type", rf"type\s+{_NAMED}\s"),
        ("variable", rf"(?:var|const)\s+{_NAMED}\b"),
    ),
    "C": _C,
    "C++": _C,
    "Java": _TYPED,
    "Kotlin": _TYPED,
    "C#": _TYPED,
    "Swift": _TYPED,
    "PHP": _TYPED,
    "Ruby": (
        ("function", r"\s*def\s+(?:self\.)?(?P<name>\w+[?!]?)"),
        ("class", rf"\s*(?:class|module)\s+{_NAMED}"),
    ),
    "Shell": (("function", r"(?:function\s+)?(?P<name>[\w-]+)\s*\(\)\s*\{?"),),
    "Lua": (("function", r"\s*(?:local\s+)?function\s+(?:[\w.]+[.:])?(?P<name>\w+)\s*\("),),
    "Zig": (("function", rf"\s*(?:pub\s+)?fn\s+{_NAMED}\s*\("),),
}
_COMPILED = {
    language: tuple((kind, re.compile(pattern)) for kind, pattern in rows)
    for language, rows in _PATTERNS.items()
}
# Before a line that defines a part of something that is defined already.
_PART = re.compile(r"@(?:\w+\.)*overload|@\w+\.(?:getter|setter|deleter)")
# A longer line is data or was packed by a program.
_LINE_CHARACTERS_MAX = 400


def _with_code(text: str) -> frozenset[str]:
    """The functions that have a body in this file; a signature with a semicolon has none."""
    function = _COMPILED["TypeScript"][0][1]
    found = [function.match(line) for line in text.split("\n") if not line.rstrip().endswith(";")]
    return frozenset(match["name"] for match in found if match is not None)


def _by_pattern(language: str, text: str) -> Iterator[Symbol]:
    rows = _COMPILED.get(language, ())
    found = 0
    before = ""
    with_code = _with_code(text) if language == "TypeScript" else frozenset[str]()
    for number, line in enumerate(text.split("\n") if rows else (), start=1):
        if len(line) > _LINE_CHARACTERS_MAX:
            continue
        for kind, pattern in rows:
            match = pattern.match(line)
            if match is not None:
                name = match["name"]
                if _PART.fullmatch(before.strip()) or (
                    name in with_code and line.rstrip().endswith(";")
                ):
                    break
                found += 1
                yield Symbol(name, name, kind, number, number, line.strip().rstrip("{").rstrip())
                break
        before = line
        if found == SYMBOLS_MAX:
            return
