"""`fix it` over a real connection: small packages with one kind of fault each."""

import shutil
from pathlib import Path

import pytest

from accord.builtin.offline.repairs.javascript.node_check import script_repairs
from tests.builtin.offline.talk import talking, write

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

PYTEST = "[tool.pytest.ini_options]\n"


async def fixed(folder: Path, files: dict[str, str]) -> str:
    """What the agent answers to `fix it` in a folder with these files."""
    write(folder, files)
    async with talking(folder) as talk:
        return await talk.say("fix it")


async def test_a_conftest_that_cannot_be_imported(tmp_path: Path) -> None:
    """Issue 14: "ImportError while loading conftest" was not read."""
    answer = await fixed(
        tmp_path,
        {
            "pyproject.toml": PYTEST,
            "box/__init__.py": "",
            "box/_native.py": "size = 1\n",
            "conftest.py": "from box import _nativ\n",
            "test_box.py": "from box import _native\n\ndef test_size():\n"
            "    assert _native.size == 1\n",
        },
    )
    assert "Repaired `conftest.py:1`" in answer
    assert "**Green**" in answer
    assert (tmp_path / "conftest.py").read_text() == "from box import _native\n"


async def test_a_name_error_behind_a_plain_assertion(tmp_path: Path) -> None:
    """Issue 14: the NameError is repaired, and of the assertion no more is said than is known."""
    answer = await fixed(
        tmp_path,
        {
            "box.py": "def half(x):\n    return x / 3\n\n\n"
            "def size(items):\n    return len(item)\n",
            "test_box.py": "import unittest\nfrom box import half, size\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_a(self):\n        self.assertEqual(half(4), 2)\n\n"
            "    def test_b(self):\n        self.assertEqual(size([1]), 1)\n",
        },
    )
    assert "Repaired `box.py:6`" in answer
    assert "**Red**: 1 of 2 tests failed." in answer
    assert "I found no repair for the rest. I cannot repair `AssertionError`" in answer


async def test_an_error_that_another_one_hides(tmp_path: Path) -> None:
    """Issue 14: what was raised while another error was handled is looked at too."""
    answer = await fixed(
        tmp_path,
        {
            "box.py": "def size(items):\n    try:\n        return len(item)\n"
            "    except Exception as error:\n        raise RuntimeError('no size') from error\n",
            "test_box.py": "import unittest\nfrom box import size\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_b(self):\n        self.assertEqual(size([1]), 1)\n",
        },
    )
    assert "Repaired `box.py:3`" in answer
    assert "**Green**" in answer


async def test_the_tests_choose_between_repairs_that_parse(tmp_path: Path) -> None:
    """Ours: where the first one parses and is wrong, another one is tried in its place."""
    answer = await fixed(
        tmp_path,
        {
            "box.py": "def pick(values):\n    return values.get('a, 7)\n\n\n"
            "def one():\n    return 1\n",
            "test_box.py": "import unittest\nfrom box import one, pick\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_one(self):\n        self.assertEqual(one(), 1)\n\n"
            "    def test_pick(self):\n        self.assertEqual(pick({}), 7)\n",
        },
    )
    assert "return values.get('a', 7)" in (tmp_path / "box.py").read_text()
    assert "**Green**" in answer
    assert "But another change helps more." in answer


async def test_what_makes_nothing_better_is_taken_back(tmp_path: Path) -> None:
    """Issue 14: and it is said, and the file is as it was."""
    program = "limit = 3\n\n\ndef size(items):\n    return limits.get(items)\n"
    answer = await fixed(
        tmp_path,
        {
            "box.py": program,
            "test_box.py": "import unittest\nfrom box import size\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_b(self):\n        self.assertEqual(size([1]), 1)\n",
        },
    )
    assert (tmp_path / "box.py").read_text() == program
    assert "Tried and reverted:" in answer
    assert "But no failing test gets better." in answer
    assert "found nothing else to try" in answer
    assert "Repaired" not in answer


async def test_what_breaks_another_test_is_taken_back(tmp_path: Path) -> None:
    """Issue 14: a repair may not cost what worked; another way is found."""
    answer = await fixed(
        tmp_path,
        {
            "box.py": "import calc\n\n\ndef size():\n    one = calc.mean()\n"
            "    return one + calc.mean()\n\n\ndef other():\n    return hasattr(calc, 'mean_of')\n",
            "calc.py": "def mean_of():\n    return 2\n",
            "test_box.py": "import unittest\nfrom box import other, size\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_a(self):\n        self.assertEqual(size(), 4)\n\n"
            "    def test_b(self):\n        self.assertTrue(other())\n",
        },
    )
    assert (tmp_path / "calc.py").read_text() == "def mean_of():\n    return 2\n"
    assert "But it breaks what worked." in answer
    assert "Repaired 2 places" in answer
    assert "**Green**: all 2 tests pass." in answer


async def test_a_guess_that_only_moves_the_error_is_taken_back(tmp_path: Path) -> None:
    """Issue 14: no test passes by it, and little speaks for it."""
    program = "def size(item):\n    return items + 1\n"
    answer = await fixed(
        tmp_path,
        {
            "box.py": program,
            "test_box.py": "import unittest\nfrom box import size\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_b(self):\n        self.assertEqual(size(1), 7)\n",
        },
    )
    assert (tmp_path / "box.py").read_text() == program
    assert "Tried and reverted:" in answer
    assert "name 'items' is not defined" in answer


async def test_a_change_that_stays_though_it_does_not_help_is_told(tmp_path: Path) -> None:
    """Ours: the user may refuse the way back; then it is not said to be taken back."""
    write(
        tmp_path,
        {
            "box.py": "limit = 3\n\n\ndef size(items):\n    return limits.get(items)\n",
            "test_box.py": "import unittest\nfrom box import size\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_b(self):\n        self.assertEqual(size([1]), 1)\n",
        },
    )
    async with talking(tmp_path) as talk:
        talk.refused = "Revert a change"
        answer = await talk.say("fix it")
    assert "limit.get" in (tmp_path / "box.py").read_text()
    assert "My last change to `box.py` did not help, and it is still there: you said no." in answer
    assert "taken back" not in answer
    assert "Repaired" not in answer


async def test_eight_faults_take_eight_rounds(tmp_path: Path) -> None:
    """Issue 14: it stopped after one round where its page promises eight."""
    names = [f"alpha{letter}" for letter in "bcdfghjkl"]
    program = "".join(
        f"def {one}({one}_values):\n    return sum({one}_valuse)\n\n\n" for one in names
    )
    tests = "import unittest\nimport box\n\n\nclass T(unittest.TestCase):\n"
    for one in names:
        tests += f"    def test_{one}(self):\n        self.assertEqual(box.{one}([1]), 1)\n\n"
    answer = await fixed(tmp_path, {"box.py": program, "test_box.py": tests})
    assert "Repaired 8 places" in answer
    assert "I stopped after 8 changes, which is my limit." in answer
    assert "**Red**: 1 of 9 tests failed." in answer


JS_TEST = "const box = require('./box');\nif (box.size([1]) !== 1) { throw new Error('size'); }\n"
PACKAGE = '{"name": "box", "scripts": {"test": "node test.js"}}\n'

SCRIPTS = {
    "a bracket": ("exports.size = (a) => Math.max(a.length, 0;\n", ".length, 0;", ".length, 0);"),
    "a comma": (
        "const o = {\n  a: 1\n  b: 2,\n};\nexports.size = (a) => a.length;\n",
        "a: 1",
        "a: 1,",
    ),
    "a brace": (
        "exports.size = (a) => {\n  if (a) {\n    return a.length;\n\n  return 0;\n};\n",
        "a.length;\n",
        "a.length;\n  }\n",
    ),
    "a keyword": ("fucntion size(a) { return a.length; }\nexports.size = size;\n", "fucn", "func"),
    "a string": ("const a = 'x;\nexports.size = (a) => a.length;\n", "'x;", "'x';"),
    "a name": ("exports.size = (items) => itmes.length;\n", "itmes", "items"),
    "a module of node": (
        "exports.size = (a) => path.basename('x'.repeat(a.length)).length;\n",
        "exports.size",
        "const path = require('path');\nexports.size",
    ),
}


async def test_the_place_that_is_told_is_the_one_that_was_changed(tmp_path: Path) -> None:
    """The line where the error was seen was told, though the import is at the top."""
    files = {
        "box.py": "import os\n\n\ndef size(text):\n    return len(re.findall('a', text))\n",
        "test_box.py": "from box import size\n\n\ndef test_it():\n    assert size('aa') == 2\n",
    }
    answer = await fixed(tmp_path, files)
    line = (tmp_path / "box.py").read_text().split("\n").index("import re") + 1
    assert f"Repaired `box.py:{line}`" in answer


@needs_node
@pytest.mark.parametrize("case", SCRIPTS)
async def test_javascript_is_repaired(case: str, tmp_path: Path) -> None:
    """Issue 14: syntax through `node --check`, and names."""
    program, wrong, right = SCRIPTS[case]
    files = {"package.json": PACKAGE, "test.js": JS_TEST, "box.js": program}
    answer = await fixed(tmp_path, files)
    assert "Repaired `box.js:" in answer
    assert "**Green**" in answer
    assert (tmp_path / "box.js").read_text() == program.replace(wrong, right)


@needs_node
async def test_javascript_that_has_no_repair_is_told_so(tmp_path: Path) -> None:
    """Issue 14: every sentence about what was not found is true."""
    program = "exports.size = (a) => zebra(a);\n"
    answer = await fixed(tmp_path, {"package.json": PACKAGE, "test.js": JS_TEST, "box.js": program})
    assert "I looked at `ReferenceError: zebra is not defined` and found nothing to try." in answer
    assert (tmp_path / "box.js").read_text() == program


async def test_what_could_not_be_read_is_told(tmp_path: Path) -> None:
    """Issue 14: nothing is claimed of an output without an error that is known."""
    answer = await fixed(tmp_path, {"Makefile": "test:\n\t@echo strange; exit 3\n"})
    assert "I could not read an error in the output." in answer
    assert "nearly" not in answer


@needs_node
@pytest.mark.anyio
async def test_node_runs_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a check needs no permission, so it must not execute anything."""
    mark = tmp_path / "ran"
    write(tmp_path, {"evil.js": f"require('fs').writeFileSync({str(mark)!r}, '');\n"})
    monkeypatch.setenv("NODE_OPTIONS", f"--require {tmp_path / 'evil.js'}")
    monkeypatch.chdir(tmp_path)
    found = await script_repairs("a.js", f"require({str(tmp_path / 'evil.js')!r}\n")
    assert [one.text for one in found] == [f"require({str(tmp_path / 'evil.js')!r})\n"]
    assert not mark.exists()
