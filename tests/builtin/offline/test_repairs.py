"""Repairs: from an error and the files to one small change, or honestly to none.

The errors are Python's own: each case is run in a process, and what it printed is parsed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.brain.offline.repairs.finding import find_repair, within
from accord.builtin.brain.offline.repairs.library import library_names
from accord.builtin.brain.offline.repairs.repair import nearest, with_import_line
from accord.builtin.brain.offline.repairs.syntax import problem_of, repair_syntax
from accord.builtin.brain.offline.runs import run_of
from accord.builtin.brain.offline.tracebacks import Failure, Frame
from tests.builtin.offline.talk import write

CALC = """def mean(values):
    return sum(values) / len(values)

class Box:
    def __init__(self, width=1):
        self.width = width
    def area(self): return self.width
"""

# Name of the case: (the program, the line that is wrong, what it becomes).
CASES = {
    "a name with a slip": (
        "def f(values):\n    return len(value)\nf([1])",
        "len(value)",
        "len(values)",
    ),
    "a builtin with a slip": ("print(lenn([1]))", "lenn(", "len("),
    "a global with a slip": ("LIMIT = 3\nprint(LIMT)", "(LIMT)", "(LIMIT)"),
    "a case that is wrong": (
        "def f(Total):\n    return total\nf(1)",
        "return total",
        "return Total",
    ),
    "a module that was not imported": ("print(math.pi)", "print(", "import math\n\nprint("),
    "a known name that was not imported": (
        "print(Path('.'))",
        "print(",
        "from pathlib import Path\n\nprint(",
    ),
    "a name of the project": ("print(mean([1]))", "print(", "from calc import mean\n\nprint("),
    "a forgotten self": (
        "class A:\n    def g(self): return 1\n    def f(self): return g()\nA().f()",
        "return g()",
        "return self.g()",
    ),
    "a name in an import": ("from calc import meen\nprint(meen([1]))", "meen", "mean"),
    "a name of the library": (
        "from collections import OrderdDict\nOrderdDict()",
        "OrderdDict",
        "OrderedDict",
    ),
    "a name in another module": (
        "from calc import helper\nhelper()",
        "from calc",
        "from tools.extra",
    ),
    "a module with a slip": ("import clac\nclac.mean([1])", "clac", "calc"),
    "a module in a folder": (
        "from extra import helper\nhelper()",
        "from extra",
        "from tools.extra",
    ),
    "a module of the library": ("import jsn\njsn.dumps(1)", "jsn", "json"),
    "an attribute of a module": ("import calc\ncalc.meann([1])", "meann", "mean"),
    "an attribute of the library": ("import math\nmath.sqroot(4)", "sqroot", "sqrt"),
    "an attribute of a str": ("'a'.uper()", "uper", "upper"),
    "an attribute of a list": ("[].apend(1)", "apend", "append"),
    "an attribute of a class": ("import calc\ncalc.Box().aera()", "aera", "area"),
    "an attribute set in a method": ("import calc\nprint(calc.Box().widht)", "widht", "width"),
    "a keyword with a slip": ("import calc\ncalc.mean(vales=[1])", "vales=", "values="),
    "a keyword of a class": ("import calc\ncalc.Box(widht=2)", "widht=", "width="),
    "a keyword of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    left: int\nP(lefft=1)",
        "(lefft=",
        "(left=",
    ),
    "a missing colon": ("def f(x)\n    return 1\nf(1)", "def f(x)", "def f(x):"),
    "a missing colon with a comment": ("if 1  # one\n    print(1)", "if 1  #", "if 1:  #"),
    "an open bracket": ("x = max([1, 2]\ny = 3", "[1, 2]", "[1, 2])"),
    "an open bracket in a head": ("def f(x:\n    return 1", "def f(x:", "def f(x):"),
    "a bracket too many": ("print(1))", "1))", "1)"),
    "an open string": ("print('hello)", "hello)", "hello')"),
    "a sign that assigns": ("x = 1\nif x = 1:\n    pass", "if x = 1", "if x == 1"),
    "a print without brackets": ("print 'x'", "print 'x'", "print('x')"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_repair_is_found_and_the_program_runs(case: str, tmp_path: Path) -> None:
    """Issue: near-miss names, missing stdlib import, missing colon, wrong module path, …"""
    program, wrong, right = CASES[case]
    files = {
        "calc.py": CALC,
        "main.py": f"{program}\n",
        "tools/__init__.py": "",
        "tools/extra.py": "def helper(): ...\n",
    }
    write(tmp_path, files)
    command = [sys.executable, "-B", "main.py"]
    before = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    run = run_of("main.py", before.returncode, before.stderr)
    assert len(run.failures) == 1, before.stderr
    failure = within(run.failures[0], (str(tmp_path), str(tmp_path.resolve())), files)
    repair = find_repair(files, failure)
    assert repair is not None, failure
    assert repair.text == f"{program}\n".replace(wrong, right)
    assert repair.why.endswith(".")
    (tmp_path / "main.py").write_text(repair.text)
    after = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("NameError", "name 'zebra' is not defined"),
        ("ModuleNotFoundError", "No module named 'numpy'"),
        ("AttributeError", "'NoneType' object has no attribute 'x'"),
        ("TypeError", "f() takes 1 positional argument but 2 were given"),
        ("AssertionError", "1 != 2"),
        ("NameError", "nonsense"),
        ("SyntaxError", "invalid syntax"),
    ],
)
def test_what_has_no_repair_has_none(error: str, message: str) -> None:
    """Issue: never an invention."""
    files = {"a.py": "print(zebra)\n"}
    assert find_repair(files, Failure("t", error, message, (Frame("a.py", 1),))) is None
    assert find_repair(files, Failure("t", error, message)) is None


def test_two_names_that_are_equally_near_are_no_answer() -> None:
    """Ours: nothing is guessed; but the inner circle is nearer."""
    assert nearest("valu", ["value", "valux"]) is None
    assert nearest("valu", ["value"], ["valux"]) == "value"
    assert nearest("x", ["zebra"]) is None


def test_an_import_goes_where_imports_are() -> None:
    """Ours: after the docstring and the imports that are there, and never before the future."""
    text = '"""Doc."""\nfrom __future__ import annotations\nimport os\n\nx = 1\n'
    wanted = text.replace("import os\n", "import os\nimport re\n")
    assert with_import_line(text, "import re") == wanted
    assert (
        with_import_line('"""Doc."""\nx = 1\n', "import re") == '"""Doc."""\n\nimport re\n\nx = 1\n'
    )
    assert with_import_line("#!/bin/x\nx = 1\n", "import re") == "#!/bin/x\n\nimport re\n\nx = 1\n"
    assert with_import_line("", "import re") == "import re\n"


@given(st.text(alphabet="def f(x):\n  [1,2]'\"#=", max_size=80))
def test_a_syntax_repair_parses_further(text: str) -> None:
    """Ours: what is offered is better than what was there."""
    files = {"a.py": text}
    for repair in repair_syntax(files, Failure("", "SyntaxError", "", (Frame("a.py", 1),))):
        left = problem_of(repair.text)
        assert left is None or left.line > repair.line


@pytest.mark.parametrize(
    "module",
    ["test.autotest", "unittest.__main__", "lib2to3.__main__", "accord", "_thread", "this"],
)
def test_no_output_of_a_test_run_makes_a_module_run_in_the_agent(module: str) -> None:
    """Issue 12: a project decides what its tests print, and runs nothing in our process by that."""
    assert library_names(module) == []
    assert "dumps" in library_names("json")
