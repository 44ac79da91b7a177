"""The conversation of a newcomer's first minute, word for word, on the demo project."""

from pathlib import Path

import pytest

from accord.builtin.demo_project import FILES, write_demo_project
from tests.builtin.offline.talk import Talk, everywhere, talking


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    folder = tmp_path / "measured"
    folder.mkdir()
    write_demo_project(folder)
    return folder


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@everywhere
async def test_the_first_minute(demo: Path, variant: str) -> None:
    """Issue: the conversation of the first minute works word for word on the demo project."""
    async with talking(demo, variant) as talk:
        await about_the_project(talk)
        await red_tests(talk)
        await fixed(talk)
        before = texts(demo)
        await renamed(talk)
        answer = await talk.say("/undo")
        assert "Undone" in answer
        assert texts(demo) == before
        assert sorted(talk.diffs()) == ["calc.py", "report.py", "test_calc.py"]
        assert len(talk.asked) == 1


async def about_the_project(talk: Talk) -> None:
    answer = await talk.say("what is this project?")
    assert "Small statistics for lists of numbers" in answer
    assert "Python (3 files" in answer
    assert "`report.py`" in answer
    assert "-m unittest discover" in answer
    assert "`mean`" in answer
    assert talk.kinds() == ["search", "read"]
    assert talk.plan() == ["completed"] * 3
    assert talk.asked == []


async def red_tests(talk: Talk) -> None:
    answer = await talk.say("run the tests")
    assert "**Red**: 2 of 4 tests failed." in answer
    assert "NameError: name 'value' is not defined at `calc.py:8`" in answer
    assert "fix it" in answer
    assert talk.kinds() == ["execute"]
    assert talk.calls[0].status == "failed"
    assert [request.kind for request in talk.asked] == ["execute"]


async def fixed(talk: Talk) -> None:
    answer = await talk.say("fix it")
    assert "Repaired `calc.py:8`" in answer
    assert "`values`" in answer
    assert "**Green**: all 4 tests pass." in answer
    assert talk.diffs() == ["calc.py"]
    assert talk.kinds() == ["read", "edit", "execute"]
    assert [request.kind for request in talk.asked] == ["edit", "execute"]
    assert "a similar name" in (talk.asked[0].reason or "")
    assert talk.plan() == ["completed"] * 3
    assert "sum(values) / len(values)" in (talk.folder / "calc.py").read_text()


async def renamed(talk: Talk) -> None:
    answer = await talk.say("rename mean to average")
    assert "Renamed `mean` to `average`, 6 lines in 3 files" in answer
    assert "**Green**: all 4 tests pass." in answer
    assert sorted(talk.diffs()) == ["calc.py", "report.py", "test_calc.py"]
    assert [request.kind for request in talk.asked] == ["edit", "execute"]
    assert talk.plan() == ["completed"] * 3
    report = (talk.folder / "report.py").read_text()
    # The word in the text of the report is not a name.
    assert "mean {average(values):.2f}" in report
    assert "from calc import average, spread" in report


def test_the_demo_project_has_the_one_mistake() -> None:
    """Brief: exactly one planted mistake."""
    assert sum(text.count("sum(value)") for text in FILES.values()) == 1
