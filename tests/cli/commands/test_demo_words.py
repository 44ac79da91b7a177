"""The first minute of the demo, word for word, as it is told line by line."""

from __future__ import annotations

import subprocess

from tests.cli.terminal import ACCORD, SECONDS_MAX

ALLOWED = "    Allow it? (y)es (f)older (a)lways (4) ne(v)er (n)o yes"
# In this order; between them stand plans, which are told as they are found, and what the tests
# print, which is another program's.
WORDS = f"""
> what is this project?
(thinking)
I look at the files, then at what they define.
  ▸ List the files
    ● completed
  ▸ Read README.md
    ● completed
demo
    Small statistics for lists of numbers, and a one-line report about them.
(from README.md)
- Languages: Python (3 files, 56 lines)
- Entry points: report.py
- Tests: 1 file, run with python3 -B -m unittest discover
2 modules with 4 symbols:
- report.py, 18 lines: One line about a list of numbers. Has summary and main.
- calc.py, 13 lines: Statistics of a list of numbers. Has mean and spread.
Ask me to explain a file or a name, to run the tests, or help.
> run the tests
(thinking)
I run them with unittest because test_calc.py uses unittest classes.
  ▸ Run python3 -B -m unittest discover
      Why: Run the tests with unittest
      $ python3 -B -m unittest discover
      y  Allow once
      f  Always allow this exact command in this folder (Accord remembers)
      a  Always allow python3 -B -m unittest discover in this folder for this
         session (the agent remembers)
      4  Allow every command for this session (the agent remembers)
      v  Always reject python3 -B -m unittest discover in this folder for this
         session (the agent remembers)
      n  Reject
{ALLOWED}
      (exit code 1)
    ✕ failed
Red: 2 of 4 tests failed.
- test_mean: NameError: name 'value' is not defined at calc.py:8
- test_summary: NameError: name 'value' is not defined at calc.py:8
Type fix it to look for a repair, or why for details of the first failure.
> fix it
(thinking)
test_mean fails: NameError: name 'value' is not defined. value is not defined;
values is a similar name in mean.
  ▸ Read calc.py
    ● completed
  ▸ Fix calc.py:8
      -    return sum(value) / len(values)
      +    return sum(values) / len(values)
      Why: value is not defined; values is a similar name in mean.
{ALLOWED}
    ● completed
  ▸ Run python3 -B -m unittest discover
      Why: See whether the repair worked
      $ python3 -B -m unittest discover
{ALLOWED}
    ● completed
Repaired calc.py:8: value is not defined; values is a similar name in mean.
Green: all 4 tests pass.
/undo reverts the change.
> rename mean to average
  ▸ Look up mean
      in calc.py:4
    ● completed
  ▸ Find every mean
    ● completed
  ▸ Rename mean to average
      calc.py
      -def mean(values):
      +def average(values):
      report.py
      -from calc import mean, spread
      +from calc import average, spread
      test_calc.py
      Why: 6 lines in 3 files
{ALLOWED}
    ● completed
  ▸ Run python3 -B -m unittest discover
{ALLOWED}
    ● completed
Renamed mean to average, 6 lines in 3 files:
Green: all 4 tests pass.
/undo reverts it.
> /undo
  ▸ Undo the last turn's changes
{ALLOWED}
    ● completed
Undone: calc.py, report.py, test_calc.py.
""".strip().splitlines()


def test_the_first_minute_is_told_word_for_word() -> None:
    """Issue 6: the first minute of the demo, word for word."""
    done = subprocess.run(
        (*ACCORD, "demo", "--script"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = iter(done.stdout.splitlines())
    for wanted in WORDS:
        assert wanted in lines, f"{wanted!r} is not told, or not at its place:\n{done.stdout}"
