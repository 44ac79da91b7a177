"""Definitions and uses, from the text alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.offline.source_code.module_files import file_of, module_name
from accord.builtin.offline.source_code.references import definitions_of, is_test, uses_of
from accord.builtin.offline.source_code.symbols import module_of

PYTHON = '''"""What it is for.

More."""
import os
from a.b import c
LIMIT: int = 3

class Box(dict, metaclass=M):
    """Holds."""
    size = 1
    async def load(self, x: int, *, y=2) -> str:
        """Loads."""
        def inner(): ...

if LIMIT:
    def late(): return f"{Box().load(1)}"
'''


def test_python_is_read_by_its_tree() -> None:
    """Brief: definitions, signatures, docstrings."""
    module = module_of("pkg/box.py", PYTHON)
    assert module.doc.startswith("What it is for.")
    assert module.imports == ("os", "a.b")
    found = {one.qualified: (one.kind, one.line, one.signature) for one in module.symbols}
    assert found == {
        "LIMIT": ("variable", 6, "LIMIT: int = 3"),
        "Box": ("class", 8, "class Box(dict, metaclass=M)"),
        "Box.size": ("attribute", 10, "size = 1"),
        "Box.load": ("method", 11, "async def load(self, x: int, *, y=2) -> str"),
        "Box.load.inner": ("function", 13, "def inner()"),
        "late": ("function", 16, "def late()"),
    }


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.js", "export async function load(x) {", "load"),
        ("a.ts", "export const load = (x: number) => x", "load"),
        ("a.ts", "export interface Box {", "Box"),
        ("a.rs", "pub(crate) async fn load(x: u8) {", "load"),
        ("a.go", "func (b *Box) load(x int) error {", "load"),
        ("a.java", "  public static int load(int x) {", "load"),
        ("a.c", "static int load(int x) {", "load"),
        ("a.rb", "  def self.load(x)", "load"),
        ("a.sh", "load() {", "load"),
        ("a.lua", "local function load(x)", "load"),
        ("a.py", "def load(x", "load"),
    ],
)
def test_other_languages_and_broken_files_are_read_by_patterns(
    path: str, line: str, name: str
) -> None:
    """Brief: other languages by simple patterns."""
    module = module_of(path, f"\n{line}\n")
    assert [(one.name, one.line) for one in module.symbols] == [(name, 2)]


@given(st.text(max_size=300), st.sampled_from(["py", "js", "c", "go", "java", "rb", "txt"]))
def test_any_text_can_be_read(text: str, ending: str) -> None:
    """Ours: lines are lines of the text, and nothing is raised."""
    lines = text.count("\n") + 1 + text.count("\r") + text.count("\f")
    for symbol in module_of(f"a.{ending}", text).symbols:
        assert 1 <= symbol.line <= symbol.end_line <= lines
    uses_of(f"a.{ending}", text, "a")


def test_dotted_names_are_found_by_class_or_by_file() -> None:
    """Issue: explain Session.load, explain calc.mean."""
    files = {"calc.py": "def mean(): ...\n", "box.py": PYTHON, "tests/test_box.py": "Box = 1\n"}
    assert [one.place for one in definitions_of(files, "calc.mean")] == ["calc.py:1"]
    assert [one.place for one in definitions_of(files, "Box.load")] == ["box.py:11"]
    assert [one.place for one in definitions_of(files, "Box")] == [
        "box.py:8",
        "tests/test_box.py:1",
    ]
    assert definitions_of(files, "other.mean") == ()
    assert is_test("tests/test_box.py")


def test_uses_say_what_they_are_and_where() -> None:
    """Brief: callers."""
    uses = uses_of("box.py", PYTHON, "load")
    assert [(use.line, use.kind, use.inside) for use in uses] == [
        (11, "definition", "Box"),
        (16, "call", "late"),
    ]


def test_imports_are_files_of_the_project_or_none() -> None:
    """Ours: the folders that projects use, and relative imports."""
    paths = ["src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/sub/b.py", "tests/c.py", "tests/d.py"]
    assert file_of(paths, "tests/c.py", "pkg.a") == "src/pkg/a.py"
    assert file_of(paths, "tests/c.py", "pkg") == "src/pkg/__init__.py"
    assert file_of(paths, "tests/c.py", "d") == "tests/d.py"
    assert file_of(paths, "src/pkg/sub/b.py", "a", 2) == "src/pkg/a.py"
    assert file_of(paths, "src/pkg/sub/b.py", "", 5) is None
    assert file_of(paths, "tests/c.py", "json") is None
    assert module_name("src/pkg/sub/b.py") == "pkg.sub.b"
