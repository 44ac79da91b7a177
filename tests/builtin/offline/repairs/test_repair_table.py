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

from accord.builtin.offline.repairs.imports import with_import_line
from accord.builtin.offline.repairs.repair_table import find_repairs, within
from accord.builtin.offline.repairs.similar_names import near
from accord.builtin.offline.repairs.standard_library import library_names
from accord.builtin.offline.repairs.syntax_errors import problem_of, repair_syntax
from accord.builtin.offline.runs.project_test_results import run_of
from accord.builtin.offline.runs.tracebacks import Failure, Frame
from tests.builtin.offline.talk import write

CALC = """def mean(values):
    return sum(values) / len(values)

class Box:
    def __init__(self, width=1):
        self.width = width
    def area(self): return self.width
"""

FORWARDS = """class A:
    inner = 'x'
    def __getattr__(self, name): return getattr(self.inner, name)
    def f(self): return self.innr
A().f()"""

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
    "a name beside another import": (
        "from decimal import Decimal\nDecimal(1).to_integral(ROUND_FLOOR)",
        "import Decimal\n",
        "import Decimal\nfrom decimal import ROUND_FLOOR\n",
    ),
    "a module that another one imports": (
        "from importlib.metadata import version\nprint(textwrap.dedent('x'))",
        "import version\n",
        "import version\nimport textwrap\n",
    ),
    "a name as another file imports it": (
        "print(ordered())",
        "print(",
        "from collections import OrderedDict as ordered\n\nprint(",
    ),
    "a forgotten global": (
        "count = 0\ndef f():\n    count += 1\nf()",
        "    count += 1",
        "    global count\n    count += 1",
    ),
    "a binding with a slip": (
        "def f():\n    reslut = 1\n    return result + result\nf()",
        "reslut",
        "result",
    ),
    "a parameter that calls hand over": (
        "def f(a):\n    return a, deep\nf(1, deep=True)",
        "def f(a)",
        "def f(a, deep=None)",
    ),
    "a parameter that others have": (
        "def g(a, deep=False): return deep\ndef f(a):\n    return a, deep\nf(1)",
        "def f(a)",
        "def f(a, deep=False)",
    ),
    "a method without self": (
        "class A:\n    def f(x): return x\nA().f(1)",
        "def f(x)",
        "def f(self, x)",
    ),
    "a method that uses the self it lacks": (
        "class A:\n    def f(x=1): return self\nA().f()",
        "def f(x=1)",
        "def f(self, x=1)",
    ),
    "a short name with two letters swapped": (
        "def f(seq):\n    return sqe\nf(1)",
        "sqe",
        "seq",
    ),
    "a parameter with a slip": (
        "class A:\n    def __init__(self, widht): self.widht = widht\nA(width=1)\nA(width=2)",
        "self, widht): self.widht = widht",
        "self, width): self.widht = width",
    ),
    "an argument that is there": (
        "def f(a, width): return a\ndef g(width):\n    return f(1)\ng(2)",
        "return f(1)",
        "return f(1, width=width)",
    ),
    "a keyword as other calls have it": (
        "from datetime import timedelta\ntimedelta(hours=1)\ntimedelta(hour=1)",
        "(hour=",
        "(hours=",
    ),
    "a private attribute": (
        "class A:\n    __size = 1\n    def f(self): return self.__siez\nA().f()",
        "siez",
        "size",
    ),
    "an attribute that is forwarded": (
        FORWARDS,
        "innr",
        "inner",
    ),
    "an open bracket over lines": (
        "x = dict(\n    a=1,\n    b=2,\n\nprint(x)",
        "b=2,\n",
        "b=2,\n)\n",
    ),
    "a bracket inside a line": ("x = [len('ab'], 1\nprint(x)", "'ab']", "'ab')]"),
    "a missing comma": ("x = {\n    1: 2\n    3: 4,\n}", "1: 2", "1: 2,"),
    "a comma after a string": (
        "x = {\n    1: 'a'\n    'b': 'c',\n}\nprint(x)",
        "'a'",
        "'a',",
    ),
    "a word of the language": ("def f():\n    retrun 1\nf()", "retrun", "return"),
    "a line that begins too late": ("x = 1\n  y = 2", "  y", "y"),
    "a line between two levels": (
        "def f():\n    if 1:\n        x = 1\n     return x\nf()",
        "     return",
        "    return",
    ),
    "a body that is not indented": ("if 1:\nprint(1)", "\nprint", "\n    print"),
}


def _files(program: str) -> dict[str, str]:
    return {
        "calc.py": CALC,
        "main.py": f"{program}\n",
        "tools/__init__.py": "",
        "tools/extra.py": "from collections import OrderedDict as ordered\n"
        "def helper(): ...\nprint(ordered)\n",
    }


@pytest.mark.parametrize("case", CASES)
def test_the_repair_is_found_and_the_program_runs(case: str, tmp_path: Path) -> None:
    """Issue: near-miss names, missing stdlib import, missing colon, wrong module path, …"""
    program, wrong, right = CASES[case]
    files = _files(program)
    write(tmp_path, files)
    command = [sys.executable, "-B", "main.py"]
    before = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    run = run_of("main.py", before.returncode, before.stderr)
    assert len(run.failures) == 1, before.stderr
    failure = within(run.failures[0], (str(tmp_path), str(tmp_path.resolve())), files)
    repair = next(iter(find_repairs(files, failure)), None)
    assert repair is not None, failure
    assert repair.text == f"{program}\n".replace(wrong, right)
    assert repair.why.endswith(".")
    (tmp_path / "main.py").write_text(repair.text)
    after = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr


# Name of the case: (the files, the error, its message, its place, the file that is repaired, what
# is wrong there, what it becomes).
ELSEWHERE: dict[str, tuple[dict[str, str], str, str, Frame, str, str, str]] = {
    "a definition with many callers": (
        {
            "calc.py": "def calc_mean(x):\n    return x\n",
            "test_calc.py": "import calc\n" + "calc.mean(1)\n" * 21,
        },
        "AttributeError",
        "module 'calc' has no attribute 'mean'",
        Frame("test_calc.py", 2),
        "calc.py",
        "calc_mean",
        "mean",
    ),
    "a method with many callers": (
        {
            "box.py": "class Box:\n    def get_area(self):\n        return 1\n",
            "test_box.py": "from box import Box\nBox().area()\nBox().area()\n",
        },
        "AttributeError",
        "'Box' object has no attribute 'area'",
        Frame("test_box.py", 2),
        "box.py",
        "get_area",
        "area",
    ),
    "a definition that others import": (
        {
            "calc.py": "def means(x):\n    return x\n",
            "one.py": "from calc import mean\nmean(1)\n",
            "two.py": "from calc import mean\nmean(2)\n",
        },
        "ImportError",
        "cannot import name 'mean' from 'calc' (calc.py)",
        Frame("one.py", 1),
        "calc.py",
        "means",
        "mean",
    ),
    "a name that an `import *` misses": (
        {
            "p/__init__.py": "from .calc import *\n",
            "p/calc.py": "__all__ = ['mean']\ndef means(x):\n    return x\n",
            "test_p.py": "from p import mean\nmean(1)\nmean(2)\n",
        },
        "AttributeError",
        "module 'p.calc' has no attribute 'mean'",
        Frame("p/__init__.py", 1),
        "p/calc.py",
        "means",
        "mean",
    ),
    "a package that does not hand a name on": (
        {
            "p/__init__.py": "from .other import x\n",
            "p/other.py": "x = 1\n",
            "p/calc.py": "def mean(x):\n    return x\n",
            "test_p.py": "from p import mean\n",
        },
        "ImportError",
        "cannot import name 'mean' from 'p' (p/__init__.py)",
        Frame("test_p.py", 1),
        "p/__init__.py",
        "import x\n",
        "import x\nfrom .calc import mean\n",
    ),
    "a module of a package": (
        {"p/__init__.py": "", "p/_native.py": "", "conftest.py": "from p import _nativ\n"},
        "ImportError",
        "cannot import name '_nativ' from 'p' (p/__init__.py)",
        Frame("conftest.py", 1),
        "conftest.py",
        "_nativ",
        "_native",
    ),
    "a module that is imported from beside": (
        {"p/__init__.py": "", "p/calcs.py": "x = 1\n", "p/a.py": "from .calc import x\n"},
        "ModuleNotFoundError",
        "No module named 'p.calc'",
        Frame("p/a.py", 1),
        "p/a.py",
        ".calc",
        ".calcs",
    ),
    "a module beside a test, outside of packages": (
        {"tests/helpers.py": "x = 1\n", "tests/conftest.py": "from helprs import x\n"},
        "ModuleNotFoundError",
        "No module named 'helprs'",
        Frame("tests/conftest.py", 1),
        "tests/conftest.py",
        "from helprs",
        "from helpers",
    ),
    "a name of a module beside a test, outside of packages": (
        {"tests/helpers.py": "def made(): ...\n", "tests/test_a.py": "made()\n"},
        "NameError",
        "name 'made' is not defined",
        Frame("tests/test_a.py", 1),
        "tests/test_a.py",
        "made()\n",
        "from helpers import made\n\nmade()\n",
    ),
    "a module beside a test that imports from the root": (
        {"tests/helpers.py": "x = 1\n", "tests/conftest.py": "from tests.helprs import x\n"},
        "ModuleNotFoundError",
        "No module named 'tests.helprs'",
        Frame("tests/conftest.py", 1),
        "tests/conftest.py",
        "tests.helprs",
        "tests.helpers",
    ),
    "a name in JavaScript": (
        {"a.js": "const values = [1];\nconsole.log(vlaues.length);\n"},
        "ReferenceError",
        "vlaues is not defined",
        Frame("a.js", 2),
        "a.js",
        "vlaues",
        "values",
    ),
    "a require that is missing": (
        {"test/a.js": "'use strict';\nparse(1);\n", "test/b.js": "var parse = require('../');\n"},
        "ReferenceError",
        "parse is not defined",
        Frame("test/a.js", 2),
        "test/a.js",
        "'use strict';\n",
        "'use strict';\nvar parse = require('../');\n",
    ),
    "a module of node": (
        {"a.js": "const fs = require('fs');\npath.join('a');\n"},
        "ReferenceError",
        "path is not defined",
        Frame("a.js", 2),
        "a.js",
        "('fs');\n",
        "('fs');\nconst path = require('path');\n",
    ),
    "a method in JavaScript": (
        {"a.js": "const a = [];\na.psuh(1);\n"},
        "TypeError",
        "a.psuh is not a function",
        Frame("a.js", 2),
        "a.js",
        "psuh",
        "push",
    ),
    "a constant that changes": (
        {"a.js": "const n = 1;\nn += 1;\n"},
        "TypeError",
        "Assignment to constant variable.",
        Frame("a.js", 2),
        "a.js",
        "const",
        "let",
    ),
    "a path in a require": (
        {"lib/a.js": "var u = require('./util');\n", "lib/utils.js": ""},
        "Error",
        "Cannot find module './util'",
        Frame("lib/a.js", 1),
        "lib/a.js",
        "./util",
        "./utils",
    ),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_what_is_repaired_is_where_the_slip_is(case: str) -> None:
    """Issue 14: rename back the one definition, not its 21 callers."""
    files, error, message, frame, path, wrong, right = ELSEWHERE[case]
    failure = Failure("t", error, message, (frame,))
    repair = next(iter(find_repairs(files, failure)), None)
    assert repair is not None
    assert (repair.path, repair.text) == (path, files[path].replace(wrong, right))


def test_a_string_may_end_before_what_follows() -> None:
    """Ours: several texts parse; all are offered, and the tests choose."""
    files = {"a.py": "x = kw.pop('factory, dict)\n"}
    failure = Failure("", "SyntaxError", "unterminated string literal", (Frame("a.py", 1),))
    found = [one.text for one in find_repairs(files, failure)]
    assert {"x = kw.pop('factory, dict')\n", "x = kw.pop('factory', dict)\n"} <= set(found)


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
    assert not find_repairs(files, Failure("t", error, message, (Frame("a.py", 1),)))
    assert not find_repairs(files, Failure("t", error, message))


def test_two_names_that_are_equally_near_are_no_answer() -> None:
    """Ours: nothing is guessed; but the inner circle is nearer."""
    assert near("valu", ["value", "valux"]) == []
    assert near("valu", ["value"], ["valux"])[0][0] == "value"
    assert near("x", ["zebra"]) == []


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
