"""A rename changes the names that are the symbol, and no other character."""

import ast
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.offline.source_code.name_spans import lines_of, replaced
from accord.builtin.offline.source_code.references import definitions_of
from accord.builtin.offline.source_code.symbol_rename import Renaming, rename


def renamed(files: dict[str, str], old: str, new: str) -> Renaming:
    files = {path: dedent(text) for path, text in files.items()}
    found = definitions_of(files, old)
    assert found, "the test's own name is not defined"
    return rename(files, found[0], new)


def one(text: str, old: str = "mean", new: str = "average") -> str:
    """One file, renamed."""
    result = renamed({"calc.py": text}, old, new)
    assert result.refused is None, result.refused
    return result.changes["calc.py"]


def test_strings_comments_and_other_names_stay() -> None:
    """Issue: exact by tokens."""
    text = '''
        def mean(values):  # the mean
            """mean of values"""
            meaning = "mean"
            return meaning, other.mean, mean
    '''
    assert one(text) == dedent(
        '''
        def average(values):  # the mean
            """mean of values"""
            meaning = "mean"
            return meaning, other.mean, average
    '''
    )


def test_a_name_in_an_f_string_is_a_name() -> None:
    """Ours: f-strings have code in them."""
    text = """
        def mean(v): return 1
        x = f"mean is {mean(2):>{mean(3)}} é"
        y = "é" + f'''
        {mean}'''
    """
    changed = one(text)
    assert "mean is {average(2):>{average(3)}} é" in changed
    assert "\n{average}'''" in changed


@pytest.mark.parametrize(
    "inner",
    [
        "def f(mean): return mean",
        "def f():\n    mean = 1\n    return mean",
        "def f():\n    for mean in ():\n        print(mean)",
        "f = lambda mean: mean",
        "f = [mean for mean in ()]",
        "def f():\n    import mean\n    return mean.x",
        "class C:\n    mean = 1",
        "class C:\n    def mean(self): return self.mean",
        "f(mean=1)",
        "def f():\n    try: pass\n    except E as mean: print(mean)",
    ],
)
def test_a_local_name_is_another_name(inner: str) -> None:
    """Brief: attribute versus name care; scopes are Python's."""
    text = f"def mean(v): return 1\n{inner}\n"
    assert one(text) == f"def average(v): return 1\n{inner}\n"


@pytest.mark.parametrize(
    ("inner", "wanted"),
    [
        ("def f(x=mean): return mean(x)", "def f(x=average): return average(x)"),
        ("def f(mean=mean): return mean", "def f(mean=average): return mean"),
        (
            "def f():\n    global mean\n    mean = 1",
            "def f():\n    global average\n    average = 1",
        ),
        ("x = [mean(mean) for x in mean]", "x = [average(average) for x in average]"),
        ("x = [mean for mean in mean]", "x = [mean for mean in average]"),
        ("@mean\nclass C(mean): x = mean", "@average\nclass C(average): x = average"),
        ("class C:\n    def f(self): return mean", "class C:\n    def f(self): return average"),
        ("__all__ = ['mean', \"x\"]", "__all__ = ['average', \"x\"]"),
        ("__all__ += ['mean']", "__all__ += ['average']"),
        ("def f(a: mean) -> mean: ...", "def f(a: average) -> average: ..."),
        ("del mean", "del average"),
    ],
)
def test_a_use_of_the_global_is_renamed(inner: str, wanted: str) -> None:
    """Brief: also imports and `__all__`."""
    assert one(f"def mean(v): return 1\n{inner}\n") == f"def average(v): return 1\n{wanted}\n"


def test_imports_are_followed_through_the_files_that_hand_it_on() -> None:
    """Issue: rename across files."""
    files = {
        "pkg/__init__.py": "from .calc import mean\n__all__ = ['mean']\n",
        "pkg/calc.py": "def mean(v): return 1\n",
        "pkg/other.py": "mean = 3\nprint(mean)\n",
        "a.py": "from pkg import mean\nmean(1)\n",
        "b.py": "import pkg.calc\npkg.calc.mean(1)\nthing.mean(2)\n",
        "c.py": "from pkg import calc as k\nk.mean(1)\n",
        "d.py": "from pkg.calc import mean as m\nm(1)\nmean = 2\n",
        "e.py": "from pkg.calc import *\nmean(1)\n",
        "f.py": "mean = 1\ndef f():\n    from pkg import mean\n    return mean\nx = mean, 'mean'\n",
        "notes.md": "mean\n",
    }
    result = renamed(files, "pkg.calc.mean", "average")
    assert result.refused is None
    assert result.changes == {
        "pkg/__init__.py": "from .calc import average\n__all__ = ['average']\n",
        "pkg/calc.py": "def average(v): return 1\n",
        "a.py": "from pkg import average\naverage(1)\n",
        "b.py": "import pkg.calc\npkg.calc.average(1)\nthing.mean(2)\n",
        "c.py": "from pkg import calc as k\nk.average(1)\n",
        "d.py": "from pkg.calc import average as m\nm(1)\nmean = 2\n",
        "e.py": "from pkg.calc import *\naverage(1)\n",
        "f.py": "mean = 1\ndef f():\n    from pkg import average\n    return average\n"
        "x = mean, 'mean'\n",
    }
    assert "as text in f.py:5" in " ".join(result.warnings)
    assert "notes.md" in " ".join(result.warnings)


@pytest.mark.parametrize(
    ("text", "old", "new", "why"),
    [
        ("def mean(v): ...", "mean", "class", "is a keyword"),
        ("def mean(v): ...", "mean", "2x", "not a valid Python name"),
        ("def mean(v): ...", "mean", "mean", "the same"),
        ("def mean(v): ...\nx = 1", "mean", "x", "already"),
        ("def mean(v): return v", "mean", "v", "already"),
        ("def mean(v): return sum(v)", "mean", "sum", "already"),
        ("class A:\n def __len__(self): ...", "__len__", "x", "special meaning"),
        ("class A:\n def f(self): ...\nclass B:\n def f(self): ...", "A.f", "g", "cannot tell"),
        ("class A:\n def append(self): ...", "append", "g", "own types"),
        ("class A:\n def f(self): ...\n def g(self): ...", "f", "g", "already"),
        ("def f():\n def g(): ...", "g", "h", "inside a function"),
    ],
)
def test_what_would_be_wrong_is_refused(text: str, old: str, new: str, why: str) -> None:
    """Brief: keyword, builtin and existing-name collisions are refused or warned."""
    result = renamed({"calc.py": text}, old, new)
    assert why in (result.refused or "")
    assert result.changes == {}


def test_a_method_is_an_attribute_wherever_it_is_used() -> None:
    """Brief: attribute versus name."""
    files = {
        "a.py": "class A:\n  def load(self): return self.load\n\ndef load_all(load): return load\n",
        "b.py": "x.load().y\nload = 1\n'x.load'\n",
    }
    result = renamed(files, "A.load", "read")
    assert result.changes == {
        "a.py": "class A:\n  def read(self): return self.read\n\ndef load_all(load): return load\n",
        "b.py": "x.read().y\nload = 1\n'x.load'\n",
    }


def test_a_builtin_of_that_name_is_warned_about() -> None:
    """Brief: builtin collisions are warned."""
    result = renamed({"a.py": "def mean(v): ...\n"}, "mean", "filter")
    assert "hides" in " ".join(result.warnings)


def test_a_file_that_does_not_parse_is_left_alone_and_said() -> None:
    """Ours: what cannot be told is said, never guessed."""
    files = {"a.py": "def mean(v): ...\n", "b.py": "from a import mean\ndef broken(:\n"}
    result = renamed(files, "mean", "average")
    assert list(result.changes) == ["a.py"]
    assert "b.py is unchanged" in " ".join(result.warnings)


NAMES = st.sampled_from(["mean", "x", "y", "value", "f"])
LINES = st.builds(
    lambda form, a, b: form.format(a=a, b=b),
    st.sampled_from(
        [
            "{a} = {b}",
            "def {a}({b}): return {a}, {b}",
            "class {a}:\n    {b} = {a}",
            "print({a}.{b}, {b}.{a})",
            "for {a} in {b}: pass",
            "z = [{a} for {a} in {b}]",
            "lambda {a}: {b}",
            "# {a}\n'{a}'",
            "import {a}\nfrom {b} import {a}",
            "with {a} as {b}: pass",
            "({a} := {b})",
            "z = f'{{{a}}} {b}'",
            "g({a}={b})",
            "try: pass\nexcept {a} as {b}: pass",
            "match {a}:\n    case {b}: pass",
        ]
    ),
    NAMES,
    NAMES,
)


@given(st.lists(LINES, max_size=8))
def test_renaming_there_and_back_gives_the_same_text(lines: list[str]) -> None:
    """Ours: only the names change, and all of them; the tree stays the same but for the name."""
    text = "\n".join(["def mean(v): return 1", *lines, ""])
    files = {"calc.py": text}
    result = rename(files, definitions_of(files, "mean")[0], "brand_new")
    if result.refused is not None:
        return
    changed = result.changes["calc.py"]
    assert len(lines_of(changed)) == len(lines_of(text))
    ast.parse(changed)
    back_files = {"calc.py": changed}
    back = rename(back_files, definitions_of(back_files, "brand_new")[0], "fresh_name")
    assert back.refused is None
    assert back.changes["calc.py"] == changed.replace("brand_new", "fresh_name")


@given(st.text(alphabet="ab \n\r\f\x85é", max_size=60))
def test_replacing_nothing_changes_nothing(text: str) -> None:
    """Ours: every other character stays."""
    assert replaced(text, [], "x") == text


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    """Ours: every other character stays."""
    assert one("\ufeff# x\r\ndef mean(v): ...\r\nmean\r\n") == (
        "\ufeff# x\r\ndef average(v): ...\r\naverage\r\n"
    )


def test_a_field_is_also_what_its_class_is_made_with() -> None:
    """Ours: a dataclass takes its fields by name."""
    text = "class P:\n    left: int\n\nP(left=1).left\nQ(left=2)\n"
    assert one(text, "left", "west") == "class P:\n    west: int\n\nP(west=1).west\nQ(left=2)\n"


def test_a_name_that_hides_what_a_star_brings_is_another() -> None:
    """Ours: what cannot be meant is not changed."""
    files = {"a.py": "def mean(v): ...\n", "b.py": "from a import *\ndef mean(w): ...\nmean\n"}
    assert list(renamed(files, "a.mean", "average").changes) == ["a.py"]


def test_an_expression_that_is_too_deep_is_refused() -> None:
    """Ours: bad input is data."""
    text = "def mean(v): ...\nx = " + "-" * 5_000 + "mean\n"
    result = renamed({"a.py": text}, "mean", "average")
    assert result.refused is not None
    deep = "def mean(v): ...\nx = " + "1 + " * 3_000 + "mean\n"
    assert renamed({"a.py": deep}, "mean", "average").refused is not None
