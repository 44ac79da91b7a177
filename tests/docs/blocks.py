"""The code of a page of documentation, as fenced blocks.

A python block that begins with `# name.py` is that file from there on.  A python block without a
name is a whole program.  `python fragment` is a piece of one: it is compiled and not run.
A console block is what a person types after `$ ` and what they then see; a line of `...` stands
for any lines, and `...` within a line for anything.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"# (\w+\.py)\n")


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is where its text begins."""

    info: str
    text: str
    line: int

    @property
    def file_name(self) -> str | None:
        """The name that a program gives itself."""
        match = _NAME.match(self.text)
        return match.group(1) if match and self.info == "python" else None


@dataclass(frozen=True)
class Command:
    """One line that a person types, and what they see."""

    typed: str
    seen: str


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in their order."""
    text = page.read_text()
    return [
        Block(match.group(1).strip(), match.group(2), text.count("\n", 0, match.start(2)) + 1)
        for match in _BLOCK.finditer(text)
    ]


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block."""
    commands: list[Command] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        typed, _, seen = part.partition("\n")
        commands.append(Command(typed, seen))
    return commands


def fits(wanted: str, seen: str) -> bool:
    """Whether an output is what the page shows; spaces at the ends of lines do not count."""
    seen = "\n".join(line.rstrip() for line in seen.rstrip().split("\n"))
    pattern = re.escape(wanted.rstrip())
    pattern = re.sub(r"(^|\\\n)\\\.\\\.\\\.(?=\\\n|$)", r"(?:\1.*)?", pattern)
    pattern = pattern.replace(r"\.\.\.", "[^\n]*")
    return re.fullmatch(pattern, seen, re.DOTALL) is not None
