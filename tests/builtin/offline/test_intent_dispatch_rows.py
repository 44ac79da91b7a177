"""Every row of what people type, over a connection: what is said, shown, asked and changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Elicitations, EmbeddedResource, FormRequest, ResourceLink
from accord.builtin.demo_project import write_demo_project
from accord.mcp.results import McpResult, McpTool
from accord.mcp.servers import ServerStatus
from accord.schema import v2
from tests.builtin.offline.talk import everywhere, talking, write
from tests.hang_limit import HANG_SECONDS


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    folder = tmp_path / "measured"
    folder.mkdir()
    write_demo_project(folder)
    return folder


def places(talk: Any) -> list[tuple[str, int | None]]:
    return [(Path(one.path).name, one.line) for call in talk.calls for one in call.locations]


# ---- looking


@everywhere
@pytest.mark.parametrize("typed", ["explain calc.py", "/explain calc.py", "what does calc.py do?"])
async def test_a_file_is_explained(demo: Path, variant: str, typed: str) -> None:
    """Research table: docstring, signatures, imports, callers, from ast; locations."""
    (demo / "calc.py").write_text((demo / "calc.py").read_text() + "# TODO: median\n")
    async with talking(demo, variant) as talk:
        answer = await talk.say(typed)
        assert "Statistics of a list of numbers." in answer
        assert "`def mean(values)` (line 4): The arithmetic mean" in answer
        assert "used by `report.py` and `test_calc.py`" in answer
        assert "# TODO: median" in answer
        assert ("calc.py", None) in places(talk)
        assert talk.asked == []


@pytest.mark.parametrize("typed", ["explain summary", "what is summary", "explain report.summary"])
async def test_a_symbol_is_explained(demo: Path, typed: str) -> None:
    """Research table: explain Session.load."""
    async with talking(demo) as talk:
        answer = await talk.say(typed)
        assert "**`summary`** is a function in `report.py:8`" in answer
        assert "> The line that a report shows." in answer
        assert "`test_calc.py:21` in `CalcTest.test_summary`" in answer
        assert ("report.py", 8) in places(talk)


async def test_where_who_and_find_name_places(demo: Path) -> None:
    """Research table: definition, references, grep, clickable."""
    async with talking(demo) as talk:
        assert "is defined in `calc.py:11`" in await talk.say("where is spread?")
        assert places(talk) == [("calc.py", 11)]
        answer = await talk.say("who calls mean")
        assert "called in 3 places in 2 files" in answer
        assert "`report.py:10` in `summary`" in answer
        assert ("report.py", 10) in places(talk)
        assert "is in 1 line in 1 file" in await talk.say("find 'no values'")
        assert places(talk) == [("calc.py", 7)]
        assert "No file that I searched contains" in await talk.say("find TODO")
        assert "I found nothing in this project that uses it" in await talk.say(
            "who calls CalcTest"
        )
        assert "```python\ndef" not in await talk.say("list files")


async def test_what_is_not_there_is_said_and_searched(demo: Path) -> None:
    """Issue: a search over the words, what it found, and how to set a model; no dead end."""
    async with talking(demo) as talk:
        answer = await talk.say("where is nothing_here")
        assert "I found no definition of `nothing_here` in this project." in answer
        answer = await talk.say("please add a json flag to the report")
        assert "`report.py:" in answer
        assert "/model" in answer
        assert "/plan please add a json flag to the report" in answer
        assert talk.kinds() == ["search"]
        answer = await talk.say("hmm hmm")
        assert "/model" in answer
        assert "no file nope.py" in (await talk.say("explain nope.py")).lower()


async def test_two_of_a_name_are_asked_about_or_listed(tmp_path: Path) -> None:
    """Brief: it may ask when a choice is needed where the client can, else lists them."""
    write(tmp_path, {"a.py": "def load(): 'A'\n", "b.py": "def load(): 'B'\n"})
    async with talking(tmp_path) as talk:
        answer = await talk.say("explain load")
        assert "defined 2 times" in answer
        assert "`a.py:1`" in answer
        assert "`b.py:1`" in answer

    async def choose(request: FormRequest) -> dict[str, str]:
        return {"choice": "load (b.py:1)"}

    async with talking(tmp_path, elicitation=Elicitations(on_form=choose)) as talk:
        assert "function in `b.py:1`" in await talk.say("explain load")


async def test_what_came_with_the_prompt_is_used_instead_of_the_disk(demo: Path) -> None:
    """Research table: @file in any prompt."""
    resource = EmbeddedResource(
        resource=v2.EmbeddedResourceResource(
            uri=(demo / "calc.py").as_uri(), text='"""Unsaved."""\ndef median(v): ...\n'
        )
    )
    async with talking(demo) as talk:
        answer = await talk.say("explain @calc.py", resource)
        assert "Unsaved." in answer
        assert "median" in answer
        assert talk.kinds() == []
        assert "Unsaved." in await talk.say("explain this file", resource)
        assert "is defined in `calc.py:2`" in await talk.say("where is median", resource)
        link = ResourceLink(name="report.py", uri=(demo / "report.py").as_uri())
        assert "One line about a list" in await talk.say("explain this file", link)


# ---- changing


@everywhere
async def test_a_text_is_changed_where_it_stands_once(demo: Path, variant: str) -> None:
    """Research table: exact replace, refuses 0 or more than 1 matches."""
    async with talking(demo, variant) as talk:
        answer = await talk.say("change 'no values' to 'nothing' in calc.py")
        assert "Changed calc.py in line 7." in answer
        assert talk.diffs() == ["calc.py"]
        assert [one.kind for one in talk.asked] == ["edit"]
        assert '"nothing"' in (demo / "calc.py").read_text()
        assert "occurs 6 times" in await talk.say("change 'values' to 'x' in calc.py")
        assert talk.asked == []
        answer = await talk.say("/change 'not there' to 'x' in calc.py")
        assert "calc.py" in answer
        assert talk.asked == []
        assert "In which file?" in await talk.say("change 'mean' to 'x'")
        assert "Changed report.py" in await talk.say("change 'numbers\"' to 'figures\"'")
        assert "Undone" in await talk.say("undo")
        assert "Undone" in await talk.say("undo")
        assert "nothing to undo" in await talk.say("undo")


@pytest.mark.parametrize(
    "typed",
    ["Please try again: Rename mean to average. I allow it now.", "try again", "Do it again!"],
)
async def test_what_was_refused_is_tried_again(demo: Path, typed: str) -> None:
    """Ours: Alt+R of `accord chat` sends such a sentence, and it was not understood."""
    async with talking(demo) as talk:
        assert "not understand" in await talk.say(typed)
        talk.allow = False
        assert "keeps its name" in await talk.say("rename mean to average")
        talk.allow = True
        assert "average" in await talk.say(typed)
        assert "def average" in (demo / "calc.py").read_text()


@everywhere
async def test_a_refusal_is_acknowledged_and_nothing_is_pretended(demo: Path, variant: str) -> None:
    """Brief: a refused permission is acknowledged."""
    before = (demo / "calc.py").read_text()
    async with talking(demo, variant) as talk:
        await talk.say("run the tests")
        talk.allow = False
        assert "the tests did not run: you said no" in await talk.say("run the tests")
        assert "`echo x` did not run: you said no" in await talk.say("$ echo x")
        answer = await talk.say("fix it")
        assert "`calc.py` stays as it is" in answer
        assert "`values`" in answer
        assert talk.plan() == ["completed", "cancelled", "cancelled"] or variant != "v2"
        assert "keeps its name: you said no" in await talk.say("rename mean to average")
        assert "stays as it is: you said no" in await talk.say(
            "change 'no values' to 'x' in calc.py"
        )
        assert "is not deleted: you said no" in await talk.say("delete calc.py")
        assert "stays where it is: you said no" in await talk.say("move calc.py to x.py")
        assert (demo / "calc.py").read_text() == before


async def test_a_mode_that_changes_nothing_is_named(demo: Path) -> None:
    """Issue: modes change real policy."""
    async with talking(demo) as talk:
        await talk.session.set_mode("read-only")
        answer = await talk.say("rename mean to average")
        assert "Read only" in answer
        assert talk.asked == []
        assert "Read only" in await talk.say("run the tests")
        await talk.session.set_mode("full-access")
        assert "Renamed" in await talk.say("rename mean to average")
        assert talk.asked == []


async def test_a_rename_that_would_be_wrong_is_refused(demo: Path) -> None:
    """Brief: collisions are refused."""
    (demo / "a.js").write_text("function twist() {}\n")
    async with talking(demo) as talk:
        assert "already" in await talk.say("rename mean to spread")
        assert "is a keyword" in await talk.say("rename mean to class")
        assert "not in this project" in await talk.say("rename zebra to lion")
        assert "in Python only" in await talk.say("rename twist to turn")
        assert talk.asked == []


# ---- tests and repairs


async def test_fixing_goes_on_while_it_helps_and_stops_honestly(tmp_path: Path) -> None:
    """Issue: fix it, up to a bound while progress is made; else shows the line and the code."""
    write(
        tmp_path,
        {
            "box.py": "def size(items)\n    return lenn(item)\n\ndef half(x):\n    return x / 3\n",
            "test_box.py": "import unittest\nfrom boxx import size, half\n"
            "class T(unittest.TestCase):\n"
            "    def test_size(self):\n        self.assertEqual(size(items=[1]), 1)\n"
            "    def test_half(self):\n        self.assertEqual(half(4), 2)\n",
        },
    )
    async with talking(tmp_path) as talk:
        answer = await talk.say("fix it")
        assert "Repaired 4 places" in answer
        assert "1 of 2 tests failed" in answer
        assert "found no repair" in answer
        assert "test_box.py:7" in answer
        assert "/model" in answer
        assert (
            (tmp_path / "box.py")
            .read_text()
            .startswith("def size(items):\n    return len(items)\n")
        )
        answer = await talk.say("why?")
        assert "**AssertionError**" in answer
        (tmp_path / "box.py").write_text((tmp_path / "box.py").read_text().replace("/ 3", "/ 2"))
        assert "**Green**" in await talk.say("fix it")
        assert "There is nothing to repair." in await talk.say("fix it")


async def test_a_command_that_failed_can_be_fixed_too(demo: Path) -> None:
    """Ours: a traceback is a traceback."""
    async with talking(demo) as talk:
        answer = await talk.say("$ python3 -B report.py 1 2 6")
        assert "failed with exit code 1" in answer
        assert "fix it" in answer
        answer = await talk.say("fix it")
        assert "Repaired `calc.py:8`" in answer
        assert "mean 3.00" in await talk.say("run report.py 1 2 6")


async def test_without_tests_it_says_so(tmp_path: Path) -> None:
    """Ours: no dead end."""
    async with talking(tmp_path) as talk:
        for typed in ("run the tests", "fix it"):
            assert "I found no tests" in await talk.say(typed)
        assert "have not run anything" in await talk.say("why")
        assert "I found no files here" in await talk.say("what is this project?")


async def test_a_command_stops_when_the_turn_is_cancelled(tmp_path: Path) -> None:
    """Research table: Esc in `run sleep 60`."""
    async with talking(tmp_path) as talk:
        with anyio.fail_after(HANG_SECONDS):
            async with talk.session.prompt("run sleep 60") as turn:
                async for _ in turn:
                    calls = talk.session.transcript.tool_calls
                    if calls and calls[-1].status == "in_progress":
                        await talk.session.cancel()
            assert turn.stop_reason == "cancelled"
        assert "hello" in (await talk.say("hello")).lower()


# ---- the rest


class Servers:
    """MCP servers as the brain and the toolbox see them."""

    def __init__(self) -> None:
        self.status = [ServerStatus(name="sums", state="connected", tools=1)]
        schema = {"type": "object", "properties": {"a": {}, "b": {}}}
        self.tools = [McpTool(server="sums", name="add", description="Adds.", input_schema=schema)]
        self.called: list[Mapping[str, Any]] = []

    def tool(self, server: str, name: str) -> McpTool | None:
        return next((one for one in self.tools if (one.server, one.name) == (server, name)), None)

    async def settled(self, seconds: float = 1) -> bool:
        return True

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Any], **more: Any
    ) -> McpResult:
        self.called.append(arguments)
        return McpResult(ok=True, text=str(arguments["a"] + arguments["b"]))


@pytest.mark.parametrize(
    "typed", ['/call sums.add {"a": 1, "b": 2}', "add a=1 b=2", "/call add a=1 b=2"]
)
async def test_an_mcp_tool_is_called_behind_permission(tmp_path: Path, typed: str) -> None:
    """Research table: /call server.tool {"a":1} or `add a=1 b=2`."""
    servers = Servers()
    async with talking(tmp_path, mcp=servers) as talk:
        answer = await talk.say(typed)
        assert "`sums.add` answered:" in answer
        assert "3" in answer
        assert servers.called == [{"a": 1, "b": 2}]
        assert len(talk.asked) == 1
        talk.allow = False
        assert "was not called: you said no" in await talk.say(typed)


async def test_mcp_servers_are_listed_and_missing_tools_are_said(tmp_path: Path) -> None:
    """Research table: /mcp, /call; the calls themselves are the toolbox's."""
    async with talking(tmp_path) as talk:
        assert "No MCP servers" in await talk.say("/mcp")
        assert "no tool `a.b`" in await talk.say("/call a.b {}")
        assert "no tool `add`" in await talk.say("add a=1 b=2")
    async with talking(tmp_path, mcp=Servers()) as talk:
        answer = await talk.say("/mcp")
        assert "**sums**: connected" in answer
        assert "`sums.add`: Adds. Takes `a` and `b`." in answer
        assert "Did you mean `sums.add`?" in await talk.say("/call sums.ad {}")
        assert "cannot read `x y` as arguments" in await talk.say("/call sums.add x y")


async def test_a_plan_is_drawn_up(demo: Path) -> None:
    """Research table: /plan add a --json flag."""
    async with talking(demo) as talk:
        answer = await talk.say("/plan add a --json flag to summary")
        assert "1. Find where the command line is read: report.py" in answer
        assert "summary (report.py:8)" in answer
        # Nobody works on it here: it is said, and does not stand open beside the message.
        assert talk.plan() == []


async def test_help_and_its_like_answer(demo: Path) -> None:
    """Issue: /help, /model; a mistyped command gets a suggestion."""
    async with talking(demo) as talk:
        assert "`/rename <old> <new>`" in await talk.say("help")
        assert "ANTHROPIC_API_KEY" in await talk.say("/model")
        assert "what is this project?" in await talk.say("hello")
        assert "`help`" in await talk.say("thanks")
        assert "Did you mean `/rename`?" in await talk.say("/renam a b")
        assert "needs an argument" in await talk.say("/rename")
        assert "```python" in await talk.say("show calc.py")
        assert "Moved" in await talk.say("move README.md to docs.md")
        assert "Undone" in await talk.say("/undo")
        assert "4 files" in await talk.say("list files")


async def test_the_same_words_give_the_same_turn(demo: Path) -> None:
    """Brief: deterministic always."""
    answers: list[str] = []
    for _ in range(2):
        async with talking(demo) as talk:
            answers.append(await talk.say("what is this project?") + await talk.say("explain mean"))
    assert answers[0] == answers[1]
