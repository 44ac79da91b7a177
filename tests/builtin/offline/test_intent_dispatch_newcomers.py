"""What newcomers typed in a review that was in no table, and what they were told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.demo_project import write_demo_project
from accord.builtin.offline.prompt.arguments import SPACE, marked
from accord.builtin.offline.prompt.intent_parser import parse
from accord.builtin.offline.runs.project_test_results import run_of, tap_failures
from tests.builtin.offline.talk import talking, write

# A row: what is typed | the intent | its arguments.
TYPED = """
pytest -k total | run | command=pytest -k total
python3 main.py --fast | run | command=python3 main.py --fast
python main.py | run | command=python main.py
npm install | run | command=npm install
npm run build | run | command=npm run build
cargo build --release | run | command=cargo build --release
ruff check . | run | command=ruff check .
$ git add . | run | command=git add .
! ls .. | run | command=ls ..
$ echo hi! | run | command=echo hi!
run git add . | run | command=git add .
run make all. | run | command=make all
please run ls ../.. | run | command=ls ../..
run `echo a.` | run | command=echo a.
make build | run | command=make build
ls -la | run | command=ls -la
./run.sh now | run | command=./run.sh now
make it faster | unknown | words=faster
go there | unknown |
node is what? | unknown | words=node
what changed? | run | command=git diff
list my changes | run | command=git diff
diff | run | command=git diff
rename Cart to Basket and run the tests | rename | old=Cart; new=Basket
fix test_math | fix |
fix the failing test test_math | fix |
fix calc.py | fix |
list the functions in cart.py | explain | target=cart.py
what functions are in cart.py? | explain | target=cart.py
which methods does Cart have | explain | target=Cart
what does checkout return? | explain | target=checkout
signature of checkout | explain | target=checkout
how do I run this? | map |
how many lines of code are there? | map |
what language is this written in? | map |
what tests are there? | map |
who depends on calc | callers | name=calc
open /etc/passwd | show | path=/etc/passwd
show ~/.ssh/id_rsa | show | path=~/.ssh/id_rsa
exit | thanks |
bye! | thanks |
"""
ROWS = [tuple(part.strip() for part in row.split(" |")) for row in TYPED.strip().split("\n")]


@pytest.mark.parametrize(("typed", "name", "arguments"), ROWS, ids=[row[0] for row in ROWS])
def test_it_is_taken_as_a_newcomer_meant_it(typed: str, name: str, arguments: str) -> None:
    """Issue: natural sentences, at least the table; these were typed by somebody new."""
    intent = parse(typed)
    wanted = dict(part.split("=", 1) for part in arguments.split("; ") if part)
    assert (intent.name, dict(intent.arguments)) == (name, wanted)


@pytest.mark.parametrize(
    "line", ["list the " * 220, "what changed " * 150, "rename a to " * 160, "how many " * 220]
)
def test_a_long_line_is_read_at_once(line: str) -> None:
    """Ours: no pattern takes more than a moment; pytest's timeout decides."""
    for _ in range(20):
        parse(line[:2000])


async def test_names_of_files_may_have_spaces(tmp_path: Path) -> None:
    """Ours: with quotes around them and without, and never another file by half of the name."""
    write(tmp_path, {"my notes/to do.py": "def later():\n    return 1\n", "do.py": "x = 1\n"})
    async with talking(tmp_path) as talk:
        for typed in (
            "show 'my notes/to do.py'",
            "show my notes/to do.py",
            "explain to do.py",
            "/show to do.py",
            "/explain to do.py",
        ):
            assert "my notes/to do.py" in await talk.say(typed)
            assert talk.kinds() == ["read"]
        await talk.say("change 'return 1' to 'return 2' in to do.py")
        assert (tmp_path / "my notes" / "to do.py").read_text() == "def later():\n    return 2\n"
        assert talk.diffs() == ["to do.py"]
        assert (tmp_path / "do.py").read_text() == "x = 1\n"


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=4))
def test_marking_names_changes_nothing_but_spaces(text: str, paths: list[str]) -> None:
    """Ours."""
    assert marked(text, paths).replace(SPACE, " ") == text.replace(SPACE, " ")


async def test_what_is_misspelt_is_answered_with_what_is_near(tmp_path: Path) -> None:
    """Issue: never a dead end."""
    write_demo_project(tmp_path)
    async with talking(tmp_path) as talk:
        for typed in (
            "explain spraed",
            "where is spraed",
            "who calls spraed",
            "rename spraed to x",
        ):
            assert "Similar names: `spread`." in await talk.say(typed)
        assert "Similar names: `calc.py`" in await talk.say("show lib/calc.py")


async def test_tests_that_failed_before_a_rename_are_not_blamed_on_it(tmp_path: Path) -> None:
    """Ours: red after a rename frightens."""
    write_demo_project(tmp_path)
    async with talking(tmp_path) as talk:
        await talk.say("run the tests")
        assert "failed before the change too" in await talk.say("rename spread to span")


async def test_an_output_that_is_cut_says_so(tmp_path: Path) -> None:
    """Issue: every result capped, and says so."""
    async with talking(tmp_path) as talk:
        answer = await talk.say("$ seq 100")
        assert "100\n```\n\nThese are the last 30 lines of its output." in answer


TAP = """TAP version 13
# Subtest: group
    # Subtest: adds
    not ok 1 - adds
      ---
      duration_ms: 2.06124
      location: '/p/sum.test.js:3:1'
      failureType: 'testCodeFailure'
      error: '3 == 4'
      name: 'AssertionError'
      stack: |-
        helper (/p/sum.js:7:3)
        TestContext.<anonymous> (/p/sum.test.js:3:29)
        Test.run (node:internal/test_runner/test:796:25)
      ...
    1..1
not ok 1 - group
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
not ok 2 - in many lines
  ---
  location: '/p/b.test.js:9:1'
  error: |-
    Expected values to be equal:

    1 !== 2
  code: 'ERR_ASSERTION'
  ...
# pass 0
# fail 2
"""


def test_failures_in_tap_have_a_name_an_error_and_a_place() -> None:
    """Issue: npm, failures parsed.  Node prints this where nobody watches."""
    run = run_of("npm test", 1, TAP)
    assert (run.count_passed, run.count_failed) == (0, 2)
    first, second = run.failures
    assert (first.test, first.error, first.message) == ("adds", "AssertionError", "3 == 4")
    assert [(one.path, one.line) for one in first.frames] == [
        ("/p/sum.test.js", 3),
        ("/p/sum.js", 7),
    ]
    assert (second.test, second.message) == ("in many lines", "Expected values to be equal:")
    assert [(one.path, one.line) for one in second.frames] == [("/p/b.test.js", 9)]


def test_failures_for_people_are_named_and_told_once() -> None:
    """The same runner in a terminal, which tells of failures twice."""
    one = "✖ adds (1.85ms)\n  AssertionError [ERR_ASSERTION]: 3 == 4\n      at f (/p/a.js:3:29)\n"
    run = run_of("npm test", 1, f"{one}\nℹ pass 0\nℹ fail 1\n\n✖ failing tests:\n\n{one}")
    assert [(found.test, found.message) for found in run.failures] == [("adds", "3 == 4")]


@given(st.text(max_size=300))
def test_any_output_can_be_read_as_tap(output: str) -> None:
    """Ours: bad input is data."""
    tap_failures(f"TAP version 13\nnot ok 1 - x\n  ---\n{output}")


async def test_a_package_named_lib_is_a_package(tmp_path: Path) -> None:
    """Issue: wrong module path.  `lib` is often a folder of sources, but not with an __init__."""
    write(
        tmp_path,
        {
            "lib/__init__.py": "",
            "lib/helpers.py": "def two():\n    return 2\n",
            "test_it.py": "import unittest\nfrom helpers import two\n\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_two(self):\n        self.assertEqual(two(), 2)\n",
        },
    )
    async with talking(tmp_path) as talk:
        answer = await talk.say("fix it")
        assert "there is no module `helpers`; it is at `lib.helpers`" in answer
        assert "**Green**: the one test passes." in answer


def test_quotes_within_an_error_of_tap_stay() -> None:
    """The last quote of `null == '1.3.0'` was taken for one of those around it."""
    block = """  ---\n  error: "null == '1.3.0'"\n  name: 'AssertionError'\n  ..."""
    (failure,) = tap_failures(f"TAP version 13\nnot ok 1 - x\n{block}")
    assert (failure.error, failure.message) == ("AssertionError", "null == '1.3.0'")
