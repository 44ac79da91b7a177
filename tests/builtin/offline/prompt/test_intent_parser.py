"""What people type, and what it is taken for."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accord.builtin.offline.intent_dispatch import ACTIONS
from accord.builtin.offline.prompt.arguments import values_of, words_of
from accord.builtin.offline.prompt.intent_parser import SLASH, parse
from accord.builtin.offline.prompt.slash_commands import COMMANDS

# A row: what is typed | the intent | its arguments.
SENTENCES = """
what is this project? | map |
what is this project | map |
what does this repo do? | map |
explain this project | map |
overview | map |
explain calc.py | explain | target=calc.py
explain Session.load | explain | target=Session.load
please explain calc.mean to me | explain | target=calc.mean
what does calc.py do? | explain | target=calc.py
how does parse work? | explain | target=parse
Explain @calc.py | explain | target=calc.py
explain the function mean() | explain | target=mean
where is X | where | name=X
where is X defined? | where | name=X
definition of mean | where | name=mean
find the function mean | where | name=mean
who calls X | callers | name=X
who uses Session.load? | callers | name=Session.load
where is mean used | callers | name=mean
usages of mean | callers | name=mean
find TODO | find | text=TODO
todos | find | text=TODO
search for open files | find | text=open files
find 'def mean' | find | text=def mean
grep value in the project | find | text=value
rename mean to average | rename | old=mean; new=average
rename the function mean to average | rename | old=mean; new=average
rename `mean` to `average` | rename | old=mean; new=average
rename calc.py to stats/calc.py | move | path=calc.py; target=stats/calc.py
move a.py to b.py | move | path=a.py; target=b.py
delete calc.py | delete | path=calc.py
change 'a' to 'b' in f.py | change | old=a; new=b; path=f.py
replace "x y" with "z" in src/f.py | change | old=x y; new=z; path=src/f.py
replace foo with bar in f.py | change | old=foo; new=bar; path=f.py
change 'a' to '' | change | old=a
run the tests | test |
Run the tests! | test |
can you run the tests again? | test |
test | test |
pytest | test |
test test_calc.py | test | target=test_calc.py
run test_calc.py | test | target=test_calc.py
why | why |
why do the tests fail? | why |
what's wrong? | why |
fix it | fix |
fix | fix |
please fix the failing tests | fix |
make the tests pass | fix |
repair this bug | fix |
fix the bug in calc.py | fix |
$ git status | run | command=git status
! ls | run | command=ls
run ls -la | run | command=ls -la
run `make all` | run | command=make all
git status | run | command=git status
undo | undo |
undo the last change | undo |
revert that | undo |
show f.py | show | path=f.py
read f.py | show | path=f.py
show me calc.py:12 | show | path=calc.py; line=12
cat src/a.ts | show | path=src/a.ts
list files | files |
mcp | mcp |
which mcp tools are there | mcp |
add a=1 b=2 | call | tool=add; values=a=1 b=2
call server.tool {"a": 1} | call | tool=server.tool; values={"a": 1}
plan add a flag | plan | text=add a flag
help | help |
what can you do? | help |
? | help |
hello | hello |
Hi there! | hello |
thanks | thanks |
model | model |
how do I set a model? | model |
add a --json flag to the cli | unknown | words=json flag cli
the | unknown |
explain how the report works | unknown | words=report
/map | map |
/explain calc.py | explain | target=calc.py
/where mean | where | name=mean
/callers mean | callers | name=mean
/find two words | find | text=two words
/rename mean average | rename | old=mean; new=average
/rename mean to average | rename | old=mean; new=average
/change 'a' to 'b' in f.py | change | old=a; new=b; path=f.py
/test | test |
/test tests/test_a.py | test | target=tests/test_a.py
/fix | fix |
/run git status | run | command=git status
/undo | undo |
/mcp | mcp |
/call server.tool {"a": 1} | call | tool=server.tool; values={"a": 1}
/call add a=1 | call | tool=add; values=a=1
/plan add a --json flag | plan | text=add a --json flag
/help | help |
/model | model |
/rename | usage | command=rename
/explain | usage | command=explain
/change nothing | usage | command=change
/nope x | no_such_command | command=nope
/ | no_such_command |
"""
ROWS = [tuple(part.strip() for part in row.split(" |")) for row in SENTENCES.strip().split("\n")]


@pytest.mark.parametrize(("typed", "name", "arguments"), ROWS, ids=[row[0] for row in ROWS])
def test_it_is_taken_as_it_was_meant(typed: str, name: str, arguments: str) -> None:
    """Issue: natural sentences and slash commands, the research file's table at least."""
    intent = parse(typed)
    wanted = dict(part.split("=", 1) for part in arguments.split("; ") if part)
    assert (intent.name, dict(intent.arguments)) == (name, wanted)
    assert intent.slash == typed.startswith("/")


@given(st.text(max_size=300))
@example(text=" !")
def test_every_text_has_an_intent_that_somebody_acts_on(text: str) -> None:
    """Ours: never a dead end."""
    for typed in (text, f"/{text}", f"rename {text}", f"change {text}", f"find {text}"):
        intent = parse(typed)
        assert intent.name in ACTIONS
        assert all(intent.arguments.values())
        assert parse(typed) == intent


@pytest.mark.parametrize(
    "line",
    ["show " + "a" * 1990, "please " * 280, "run the " * 240, "change '" * 240, "a=1 " * 480,
     "find " + "x " * 990, "what is the " * 160, "rename " + "a" * 990 + " to " + "b" * 990],
)  # fmt: skip
def test_a_long_line_is_read_at_once(line: str) -> None:
    """Ours: no pattern of the table takes more than a moment; pytest's timeout decides."""
    for _ in range(20):
        parse(line[:2000])


def test_every_advertised_command_is_understood() -> None:
    """Contract: the slash commands are the data that G advertises."""
    assert {command.name for command in COMMANDS} <= set(SLASH)
    for command in COMMANDS:
        assert command.description
        assert parse(f"/{command.name}").name in ACTIONS


def test_arguments_of_tools_are_json_or_pairs() -> None:
    """Issue: /call server.tool {json} or `add a=1 b=2`."""
    assert values_of('{"a": [1, 2]}') == {"a": [1, 2]}
    assert values_of("a=1 b=2.5 c=true d=word e='two words' f=\"x y\"") == {
        "a": 1, "b": 2.5, "c": True, "d": "word", "e": "two words", "f": "x y",
    }  # fmt: skip
    assert values_of("") == {}
    assert values_of("[1]") is None
    assert values_of("{broken") is None
    assert values_of("just words") is None


@given(st.text(max_size=200))
def test_reading_values_never_fails(text: str) -> None:
    """Ours: bad input is data."""
    values = values_of(text)
    assert values is None or isinstance(values, dict)
    values_of("{" + text)


@given(st.text(max_size=200))
def test_the_words_to_search_for_are_few_and_in_the_text(text: str) -> None:
    """Ours: what is not understood becomes a search over its words."""
    words = words_of(text).split()
    assert len(words) <= 5
    assert all(word in text for word in words)


def test_no_part_of_a_secret_is_searched_for() -> None:
    """Issue 12: a part is not known for a secret, and stood in the title of the search."""
    assert words_of(f"remember sk-{'abcd1234' * 4} please") == words_of("remember please")
