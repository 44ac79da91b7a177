"""Files that docstrings and comments mention exist where a reader looks for them."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/accord"
# Files of a user that examples name.
EXAMPLES = {
    "a.py",
    "agent.py",
    "anyio.py",
    "calc.py",
    "conftest.py",
    "my_agent.py",
    "report.py",
    "script.py",
    "shout.py",
    "src/app.py",
    "src/main.py",
    "x.py",
}
MENTION = re.compile(r"(?<![\w/.-])(?:\w[\w.-]*/)*\w+\.py\b")


def mentions(text: str) -> Iterator[tuple[int, str]]:
    """The line and name of each Python file in a docstring or comment."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and token.string.startswith(('"""', 'r"""'))
        if token.type == tokenize.COMMENT or is_docstring:
            for found in MENTION.finditer(token.string):
                yield token.start[0] + token.string.count("\n", 0, found.start()), found[0]


def exists(name: str, mentioned_in: Path) -> bool:
    """Whether the name leads to a file from its folder, or from one above it."""
    return any((folder / name).is_file() for folder in mentioned_in.parents)


def test_files_that_are_mentioned_exist() -> None:
    """Issue 15: the name of a file that has moved leads nowhere."""
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, name in mentions(path.read_text())
        if name not in EXAMPLES and not exists(name, path)
    ]
    assert missing == []


def test_a_moved_file_is_noticed() -> None:
    """Ours: the check reads docstrings and comments, and nothing else."""
    text = '"""See `state.py`."""\n\nname = "other.py"  # as in wire/v1/old_wire.py\n'
    assert list(mentions(text)) == [(1, "state.py"), (3, "wire/v1/old_wire.py")]
    here = SOURCE / "client/session/session.py"
    assert exists("state.py", here)
    assert exists("session/state.py", here)
    assert not exists("wire/v1/old_wire.py", here)
