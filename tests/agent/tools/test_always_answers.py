"""What an answer "always" covers, in v1, in v2 and in the 2026-02 draft."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.agent import Agent, Turn
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.hang_limit import HANG_SECONDS

ASK = "session/request_permission"
DIALOGS = {"ui": {"permissionDialogs": True}}
SCOPES = ("session", "workspace", "always")
VERSIONS = ("v1", "v2", *(f"draft-{scope}" for scope in SCOPES))

Action = tuple[str, ...]

folders = st.sampled_from([".", "sub", "sub/deep", "link"])
files = st.sampled_from(["a.txt", "b.txt", "sub/a.txt", "link/a.txt", ".envrc", ".git/hooks/x"])
lines = st.lists(st.sampled_from(["x", "y", "*", "x y", ""]), max_size=2)
inputs = st.sampled_from(["", "1", "2"])
actions = st.one_of(
    st.builds(lambda words, folder: ("run", folder, *words), lines, folders),
    st.builds(lambda path: ("edit", path), files),
    st.builds(lambda path: ("delete", path), files),
    st.builds(lambda a, b: ("move", a, f"{b}.new"), files, files),
    st.builds(
        lambda server, tool, given: ("mcp", server, tool, given),
        st.sampled_from(["db", "web"]),
        st.sampled_from(["query", "drop"]),
        inputs,
    ),
    st.builds(lambda title, given: ("call", title, given), st.sampled_from(["A", "B"]), inputs),
)


async def do(turn: Turn, action: Action) -> None:
    """Ask for one action and carry it out."""
    match action:
        case ("run", folder, *words):
            await turn.run("true", *words, cwd=folder)
        case ("edit", path):
            await turn.edit(path, os.urandom(4).hex())
        case ("delete", path):
            await turn.delete(path)
        case ("move", path, target):
            await turn.move(path, target)
        case ("mcp", server, tool, given):
            name = f"mcp__{server}__{tool}"
            async with turn.tool_call(name, name=name, raw_input={"given": given}) as call:
                await call.ask()
        case (_, title, given):
            async with turn.tool_call(title, raw_input={"given": given}) as call:
                await call.ask()


def is_same(first: Action, later: Action, folder: Path) -> bool:
    """The reference: exact command and folder; kind and files; MCP tool; call and input."""

    def meant(action: Action) -> tuple[object, ...]:
        kind, *rest = action
        if kind == "run":
            return (kind, os.path.realpath(folder / rest[0]), *rest[1:])
        if kind in ("edit", "delete", "move"):
            return (kind, *(os.path.realpath(folder / path) for path in rest))
        return action[:3] if kind == "mcp" else action

    return meant(first) == meant(later)


def prepare(folder: Path) -> None:
    """The files that are acted on."""
    for name in ("sub/deep", ".git/hooks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if not (folder / "link").is_symlink():
        (folder / "link").symlink_to("sub")
    for name in ("a.txt", "b.txt", "sub/a.txt", ".envrc", ".git/hooks/x"):
        (folder / name).write_text("old\n")
    for made in folder.glob("**/*.new"):
        made.unlink()


def answers(version: str, first: Message, later: Message) -> Callable[[Message], Message]:
    """Answer the first question lastingly and all others with a no."""
    waiting = [first]
    return lambda _params: waiting.pop() if waiting else later


def selected(option_id: str) -> Message:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


async def questions(version: str, folder: Path, first: Action, later: Action) -> int:
    """How often the user is asked for both, with "always" as the first answer."""
    agent = Agent("asks", version="1")

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        prepare(folder)
        await do(turn, first if turn.text == "first" else later)

    if version.startswith("draft"):
        scope = version.removeprefix("draft-")
        async with draft_client(agent, DIALOGS) as client:
            yes = {"granted": True, "scope": scope, "remember": True}
            client.serve[ASK] = answers(version, yes, {"granted": False})
            session = await client.new_session(str(folder))
            await client.prompt(session, "first")
            # What holds for the workspace or for good holds in the next session.
            other = session if scope == "session" else await client.new_session(str(folder))
            await client.prompt(other, "later")
            return client.methods().count(ASK)
    async with raw_client(agent, version=int(version[1:])) as raw:
        raw.serve[ASK] = answers(version, selected("allow_always"), selected("reject_once"))
        session = await raw.new_session(str(folder))
        for words in ("first", "later"):
            await finished(raw, session, words)
        return raw.methods().count(ASK)


async def finished(client: RawClient, session: str, words: str) -> None:
    """A whole turn in either version."""
    client.unread.clear()
    answer = await client.answer(client.start_prompt(session, words))
    assert "result" in answer, answer
    if client.version == 2:
        await client.take(
            lambda message: message.get("params", {}).get("update", {}).get("state") == "idle"
        )


def asked_for_both(version: str, first: Action, later: Action) -> tuple[int, bool]:
    """How often the user is asked, and whether both are the same act."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)

        async def play() -> int:
            with anyio.fail_after(HANG_SECONDS):
                return await questions(version, folder, first, later)

        return anyio.run(play), is_same(first, later, folder)


@pytest.mark.parametrize("version", VERSIONS)
@given(first=actions, later=actions)
@settings(max_examples=60, deadline=None)
def test_always_lets_only_the_same_act_pass(version: str, first: Action, later: Action) -> None:
    """Issue 12: an answer "always" covers what was asked, not its kind."""
    asked, same = asked_for_both(version, first, later)
    assert asked == (1 if same else 2)


@pytest.mark.parametrize("version", VERSIONS)
@given(act=actions)
@settings(max_examples=15, deadline=None)
def test_always_lets_the_very_same_act_pass(version: str, act: Action) -> None:
    """Issue 12: this is what the user wanted not to be asked again."""
    assert asked_for_both(version, act, act) == (1, True)


def handler(work: Callable[[Turn], Awaitable[Any]]) -> Callable[[Turn], Awaitable[None]]:
    async def handle(turn: Turn) -> None:
        await work(turn)

    return handle


def agent_that(work: Callable[[Turn], Awaitable[Any]]) -> Agent:
    agent = Agent("asks", version="1")
    agent.on_prompt(handler(work))
    return agent


def named(options: list[Message]) -> dict[str, str]:
    return {one["optionId"]: one["name"] for one in options}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("action", "narrow", "wide"),
    [
        (("run", ".", "x"), "`true x` in this folder", "every command"),
        (("run", "sub", "x"), "`true x` in sub", "every command"),
        (("edit", "a.txt"), "editing a.txt", "every edit in this folder"),
        (("delete", "a.txt"), "deleting a.txt", "every deletion in this folder"),
        (("move", "a.txt", "c.new"), "moving a.txt to c.new", "every move in this folder"),
        (("edit", ".envrc"), "editing .envrc", None),
        (("mcp", "db", "drop", ""), "the MCP tool db/drop", "every tool of the MCP server db"),
        (("call", "A", "1"), "“A” with this input", None),
    ],
)
async def test_an_option_says_what_it_covers(
    tmp_path: Path, version: int, action: Action, narrow: str, wide: str | None
) -> None:
    """Issue 12: in words; a wider one is a choice of its own and named so."""
    prepare(tmp_path)
    agent = agent_that(lambda turn: do(turn, action))
    asked: list[Message] = []

    def refuse(params: Message) -> Message:
        asked.append(params)
        return selected("reject_once")

    async with raw_client(agent, version=version) as client:
        client.serve[ASK] = refuse
        await finished(client, await client.new_session(str(tmp_path)), "go")
    expected = {
        "allow_once": "Allow once",
        "allow_always": f"Always allow {narrow} for this session",
        "reject_once": "Reject",
        "reject_always": f"Always reject {narrow} for this session",
    }
    if wide is not None:
        expected["allow_every"] = f"Allow {wide} for this session"
    assert named(asked[0]["options"]) == expected


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("first", "later", "asked"),
    [
        (("run", ".", "x"), ("run", "sub", "y"), 1),
        (("edit", "a.txt"), ("edit", "sub/a.txt"), 1),
        (("edit", "a.txt"), ("delete", "b.txt"), 2),
        (("edit", "a.txt"), ("edit", ".envrc"), 2),
        (("edit", "a.txt"), ("edit", "way/hook"), 2),
        (("edit", "a.txt"), ("run", ".", "x"), 2),
        (("move", "a.txt", "c.new"), ("move", "b.txt", ".git/hooks/pre-commit"), 2),
        (("mcp", "db", "drop", ""), ("mcp", "db", "query", "1"), 1),
        (("mcp", "db", "drop", ""), ("mcp", "web", "query", "1"), 2),
    ],
)
async def test_a_wide_answer_covers_what_its_name_says(
    tmp_path: Path, version: int, first: Action, later: Action, asked: int
) -> None:
    """Issue 12: and never a file that something executes, also behind a link."""
    prepare(tmp_path)
    (tmp_path / "way").symlink_to(".git/hooks")
    agent = agent_that(lambda turn: do(turn, first if turn.text == "first" else later))
    async with raw_client(agent, version=version) as client:
        client.serve[ASK] = answers("", selected("allow_every"), selected("reject_once"))
        session = await client.new_session(str(tmp_path))
        await finished(client, session, "first")
        await finished(client, session, "later")
        assert client.methods().count(ASK) == asked


async def test_a_mode_that_allows_edits_asks_for_files_that_something_executes(
    tmp_path: Path,
) -> None:
    """Issue 12: modes that accept edits still ask for these."""
    prepare(tmp_path)
    agent = Agent("asks", version="1")
    agent.add_mode("code", "Code", allow=("edit",))
    agent.on_prompt(handler(lambda turn: do(turn, ("edit", turn.text))))
    async with raw_client(agent) as client:
        client.serve[ASK] = lambda _params: selected("reject_once")
        session = await client.new_session(str(tmp_path))
        for path, count in (("a.txt", 0), (".envrc", 1), (".git/hooks/x", 2)):
            await finished(client, session, path)
            assert client.methods().count(ASK) == count


async def test_the_same_line_with_other_variables_is_another_command(tmp_path: Path) -> None:
    """Issue 12: PATH or LD_PRELOAD make another program of it."""
    agent = agent_that(lambda turn: turn.run("true", env={"WHAT": turn.text}))
    async with raw_client(agent) as client:
        client.serve[ASK] = lambda _params: selected("allow_always")
        session = await client.new_session(str(tmp_path))
        for words, count in (("a", 1), ("a", 1), ("b", 2)):
            await finished(client, session, words)
            assert client.methods().count(ASK) == count


async def test_the_draft_is_told_in_words_what_a_lasting_answer_covers(tmp_path: Path) -> None:
    """Issue 12: the draft's scopes have no names, so the reason says it."""
    prepare(tmp_path)
    agent = agent_that(lambda turn: do(turn, ("run", ".", "x")))
    reasons: list[Any] = []

    def refuse(params: Message) -> Message:
        reasons.append(params["reason"])
        return {"granted": False}

    async with draft_client(agent, DIALOGS) as client:
        client.serve[ASK] = refuse
        await client.prompt(await client.new_session(str(tmp_path)))
    assert reasons[0].endswith("If it is remembered, it covers only `true x` in this folder.")
