"""Files that come with the first prompt of a session."""

from pathlib import Path

import pytest

from accord.proxy.builtin.context import FILE_BYTES_MAX, agents_files, context
from tests.proxy.builtin.opened import VERSIONS, opened, prompt, session, text
from tests.proxy.wires import around

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a folder in it, and instructions in both and above."""
    (tmp_path / "AGENTS.md").write_text("above")
    inner = tmp_path / "repo" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / "AGENTS.md").write_text("root")
    (inner / "AGENTS.md").write_text("inner")
    (inner / "x.txt").write_text("chosen")
    return inner


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_first_prompt_has_the_files_as_resources(project: Path, version: int) -> None:
    """Issue 5: AGENTS.md and chosen files, embedded where the agent takes that."""
    async with around(context(["x.txt"])) as (client, agent, _, _):
        await opened(client, agent, version, str(project), resources=True)
        prompt(client, 1, "hello")
        *files, last = (await agent.hear())["params"]["prompt"]
        assert [one["resource"]["text"] for one in files] == ["root", "inner", "chosen"]
        assert files[0]["resource"]["uri"] == (project.parent / "AGENTS.md").as_uri()
        assert files[0]["resource"]["mimeType"] == "text/markdown"
        assert last == text("hello")
        prompt(client, 2, "again")
        assert (await agent.hear())["params"]["prompt"] == [text("again")]
        await session(client, agent, "t", str(project))
        prompt(client, 3, "other", session_id="t")
        assert len((await agent.hear())["params"]["prompt"]) == 4


async def test_an_agent_that_takes_no_resources_gets_text_in_a_frame(project: Path) -> None:
    """Issue 5: else a text block with a clear frame."""
    async with around(context(agents_md=False, files=["x.txt"])) as (client, agent, _, _):
        await opened(client, agent, 1, str(project))
        prompt(client, 1, "hello")
        file, last = (await agent.hear())["params"]["prompt"]
        assert file == text(f'<file path="{project / "x.txt"}">\nchosen\n</file>\n')
        assert last == text("hello")


async def test_a_slash_command_is_left_alone_and_a_refused_prompt_does_not_count(
    project: Path,
) -> None:
    """Ours: a command must stay one, and files that did not arrive come again."""
    async with around(context()) as (client, agent, _, _):
        await opened(client, agent, 1, str(project))
        prompt(client, 1, "/help")
        assert (await agent.hear())["params"]["prompt"] == [text("/help")]
        for number in (2, 3):
            prompt(client, number, "hello")
            asked = await agent.hear()
            assert len(asked["params"]["prompt"]) == 3
            error = {"code": -32000, "message": "log in"}
            agent.say({"id": asked["id"], "error": error})
            assert (await client.hear())["error"] == error


async def test_files_that_cannot_be_read_are_told_of_and_long_ones_cut(tmp_path: Path) -> None:
    """Ours: every buffer has a bound; nothing is left out silently."""
    said: list[str] = []
    (tmp_path / "long").write_text("x" * (FILE_BYTES_MAX + 10))
    proxy = context(["missing", "long"], say=said.append)
    async with around(proxy) as (client, agent, _, _):
        await opened(client, agent, 1, str(tmp_path))
        prompt(client, 1, "hello")
        file, _ = (await agent.hear())["params"]["prompt"]
        assert "[the file continues]" in file["text"]
        assert "missing was skipped" in said[0]
        assert "only the first" in said[1]


def test_outside_of_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    """Issue 5: upward to the repository root, and no further."""
    (tmp_path / "AGENTS.md").write_text("above")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert agents_files(inner) == []
    (inner / "AGENTS.md").write_text("here")
    assert agents_files(inner) == [inner / "AGENTS.md"]
