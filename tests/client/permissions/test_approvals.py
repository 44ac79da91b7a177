"""Writes and terminals that come with an approved tool call, and those that come without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client.permissions import approvals as module
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import OWN_OPTIONS, Decision, PermissionRequest
from accord.client.permissions.rules import Rule
from accord.schema.struct import Raw
from accord.schema.v2 import TextContent
from accord.transcript.items.tool_call import FileDiff, Location, ToolCall
from tests.client.deciders import also_changes

pytestmark = pytest.mark.anyio


class User:
    """Approves what the agent asks for, once; refuses, and notes, what we ask for."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.asked: list[PermissionRequest] = []
        self.answer: Any = "allow_once"
        self.permissions = Permissions.ask(self._answer)
        self.permissions.add_session("s", str(self.root))

    def _answer(self, one: PermissionRequest) -> Any:
        self.asked.append(one)
        return self.answer if one.origin == "agent" else None

    async def approve(self, call: ToolCall | None = None, **about: Any) -> None:
        """The agent asks for a call, as the client describes it."""
        if call is not None:
            about.setdefault("kind", call.kind)
            found = [diff.path for diff in call.diffs] + [place.path for place in call.locations]
            about.setdefault("paths", tuple(found))
        about = {"title": "Asked", **about}
        await self.permissions.decide(
            PermissionRequest(session_id="s", options=OWN_OPTIONS, tool_call=call, **about)
        )

    async def writes(self, path: str, content: str | None = None) -> bool:
        return await self.permissions.may_write("s", path, content=content)

    async def runs(self, command: str, *args: str, **about: Any) -> bool:
        return await self.permissions.may_run("s", command, args, **about)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def edit(*paths: str, kind: str = "edit") -> ToolCall:
    call = ToolCall("t")
    call.kind = kind
    call.replace_locations([Location(path) for path in paths])
    return call


async def test_a_grant_of_an_edit_covers_writing_its_files(user: User) -> None:
    """Issue: a grant given for that tool call covers the write."""
    a, b, c = (f"{user.root}/{name}" for name in "abc")
    call = edit(a)
    also_changes(call, FileDiff(b))
    await user.approve(call)
    assert await user.writes(f"{user.root}/./x/../a")
    assert await user.writes(b)
    assert len(user.asked) == 1
    assert not await user.writes(c)
    assert not await user.writes(a + "c")
    assert [one.origin for one in user.asked[1:]] == ["write", "write"]


async def test_a_relative_path_that_was_approved_is_beneath_the_session(user: User) -> None:
    """Ours: some agents show relative paths and write absolute ones."""
    await user.approve(edit("src/a"))
    assert await user.writes(f"{user.root}/src/a")


async def test_a_grant_of_a_call_without_a_kind_covers_the_files_that_it_showed(
    user: User,
) -> None:
    """Issue: a grant given for that tool call covers them; many agents name no kind."""
    a = f"{user.root}/a"
    await user.approve(edit(a, kind="other"))
    assert await user.writes(a)
    assert len(user.asked) == 1
    assert not await user.writes(f"{user.root}/b")


@pytest.mark.parametrize(
    "about", [{"kind": "read"}, {"command": "cat a"}, {"mcp_tool": "disk/read"}]
)
async def test_a_grant_of_something_else_covers_no_file(user: User, about: Any) -> None:
    """Ours: what was approved is the reading, the command or the tool, wherever it looks."""
    a = f"{user.root}/a"
    await user.approve(edit(a, kind="other"), **about)
    assert not await user.writes(a)


async def test_a_rule_for_calls_without_a_kind_covers_no_file(user: User) -> None:
    """Ours: else an agent would only have to call its edits `other`."""
    a = f"{user.root}/a"
    user.permissions.add_rule(Rule(effect="allow", kind="other"))
    await user.approve(edit(a, kind="other"))
    assert user.asked == []
    assert not await user.writes(a)


@pytest.mark.parametrize("kind", ["execute", "other", "edit", "move", "delete", "read"])
@pytest.mark.parametrize(
    ("rule", "about"),
    [
        (Rule(effect="allow", command="echo"), {"command": "echo hi", "cwd": "/"}),
        (Rule(effect="allow", mcp_tool="good/*"), {"mcp_tool": "good/x"}),
        (Rule(effect="allow", kind="other"), {}),
    ],
)
async def test_a_rule_about_something_else_covers_no_file_that_the_call_shows(
    user: User, kind: str, rule: Rule, about: Any
) -> None:
    """Issue 12: a hook is not written because `echo` or some tool is allowed."""
    hook = f"{user.root}/.git/hooks/pre-commit"
    call = edit(hook, kind=kind)
    also_changes(call, FileDiff(hook))
    user.permissions.add_rule(rule)
    user.answer = None
    await user.approve(call, **about)
    assert not await user.writes(hook, "evil")


async def test_a_rule_about_a_tool_covers_no_command(user: User) -> None:
    """Issue 12: the input of an allowed tool may have a command in it."""
    user.permissions.add_rule(Rule(effect="allow", mcp_tool="good/*"))
    about: Any = {"mcp_tool": "good/x", "command": "rm x", "cwd": str(user.root)}
    await user.approve(kind="execute", **about)
    assert user.asked == []
    assert not await user.runs("rm", "x")
    assert user.asked[-1].origin == "terminal"


async def test_the_grant_ends_with_its_call(user: User) -> None:
    """Contract: while the call is not final."""
    call = edit(f"{user.root}/a")
    await user.approve(call)
    call.report("in_progress")
    assert await user.writes(f"{user.root}/a")
    call.report("completed")
    assert not await user.writes(f"{user.root}/a")


async def test_the_grant_ends_when_the_call_is_cancelled(user: User) -> None:
    """Ours: a cancelled turn marks its open calls."""
    call = edit(f"{user.root}/a")
    await user.approve(call)
    call.cancelled = True
    assert not await user.writes(f"{user.root}/a")


async def test_the_grant_ends_with_the_turn(user: User) -> None:
    """Ours: an agent that never finishes its calls keeps no approval."""
    await user.approve(edit(f"{user.root}/a"))
    user.permissions.end_turn("s")
    user.permissions.end_turn("unknown")
    assert not await user.writes(f"{user.root}/a")


async def test_what_the_agent_adds_later_is_not_covered(user: User) -> None:
    """Issue: what the user did not see was not approved."""
    call = edit(f"{user.root}/a")
    await user.approve(call)
    call.replace_locations([Location(f"{user.root}/b")])
    also_changes(call, FileDiff(f"{user.root}/c"))
    assert not await user.writes(f"{user.root}/b")
    assert not await user.writes(f"{user.root}/c")


async def test_what_the_agent_changes_while_the_user_is_asked_is_not_covered(user: User) -> None:
    """Issue 12: the answer is about the call as it was shown."""
    a, b = f"{user.root}/a", f"{user.root}/b"
    live = edit(a)
    also_changes(live, FileDiff(a))
    shown = live.snapshot()
    live.replace_content([None], lambda _item: [FileDiff(b)])
    await user.approve(shown)
    assert await user.writes(a)
    assert not await user.writes(b)
    # It still ends with the call.
    shown = live.snapshot()
    await user.approve(shown)
    live.report("completed")
    assert not await user.writes(b)


async def test_a_link_that_is_swapped_in_is_not_covered(user: User) -> None:
    """Issue: rules on real paths, no symlink tricks."""
    path = user.root / "a"
    path.write_text("x")
    await user.approve(edit(str(path)))
    assert await user.writes(str(path))
    path.unlink()
    path.symlink_to(user.root / "other")
    assert not await user.writes(str(path))


@pytest.mark.parametrize("kind", ["read", "delete", "execute"])
async def test_another_kind_of_call_covers_no_write(user: User, kind: str) -> None:
    """Ours: the user agreed to reading, not to writing; a diff that was shown is agreed to."""
    a, b = f"{user.root}/a", f"{user.root}/b"
    call = edit(a, kind=kind)
    await user.approve(call, paths=(a,))
    assert not await user.writes(a)
    also_changes(call, FileDiff(b))
    await user.approve(call, paths=(a, b), kind="other")
    assert await user.writes(b)
    assert not await user.writes(a)


@pytest.mark.parametrize("answer", ["reject_once", None, "nonsense"])
async def test_a_refused_call_covers_nothing(user: User, answer: Any) -> None:
    """Issue: what is not an approval covers nothing."""
    user.answer = answer
    await user.approve(edit(f"{user.root}/a"))
    assert not await user.writes(f"{user.root}/a")


@pytest.mark.parametrize("answer", ["reject_once", None, "nonsense"])
async def test_a_no_takes_an_earlier_yes_to_the_same_call_back(user: User, answer: Any) -> None:
    """Issue 12: the last word counts."""
    call, other = edit(f"{user.root}/a"), ToolCall("other")
    await user.approve(call)
    user.answer = answer
    await user.approve(other, kind="execute", command="make")
    assert await user.writes(f"{user.root}/a", "1")
    user.answer = "allow_once"
    await user.approve(call)
    user.answer = answer
    await user.approve(call)
    assert not await user.writes(f"{user.root}/a", "2")


async def test_cancelling_ends_what_was_approved(user: User) -> None:
    """Issue 12: whoever stops the turn wants nothing more of it."""
    await user.approve(edit(f"{user.root}/a"))
    user.permissions.cancel_session("s")
    assert not await user.writes(f"{user.root}/a")


SPELLINGS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("npm", "test", "--", "a b"), {}),
    (("npm test -- 'a b'",), {"cwd": "sub"}),
    (("bash", "-c", "npm test -- 'a b'"), {"env": {"NO_COLOR": "1"}}),
    (("/bin/bash", "-c", "cd {root} && npm test -- 'a b'"), {}),
    (("/bin/bash", "-c", "cd {root}/sub  &&  npm test -- 'a b'"), {"cwd": "/"}),
    (("cd sub && npm test -- 'a b'",), {}),
)
OTHERS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("npm", "test"), {}),
    (("npm test -- 'a b'; rm x",), {}),
    (("npm", "test", "--", "a b"), {"cwd": "/"}),
    (("npm", "test", "--", "a b"), {"env": {"PATH": "/evil"}}),
    (("/evil/npm", "test", "--", "a b"), {}),
    (("bash", "-c", "cd / && npm test -- 'a b'"), {}),
    (("bash", "-c", "cd .. && npm test -- 'a b'"), {}),
    (("bash", "-c", "cd $HOME && npm test -- 'a b'"), {}),
    (("bash", "-c", "cd {root} sub && npm test -- 'a b'"), {}),
    (("bash", "-c", "cd {root} && rm x && npm test -- 'a b'"), {}),
    (("bash", "-c", "cd {root} || npm test -- 'a b'"), {}),
    # Where the shell was before, and a folder that is called so.
    (("bash", "-c", "cd - && npm test -- 'a b'"), {}),
    (("bash", "-c", "cd -P && npm test -- 'a b'"), {}),
)
# How agents show a command without saying it in a field of its own.
SHOWN: tuple[dict[str, Any], ...] = (
    {"command": "npm test -- 'a b'"},
    {"title": "npm test -- 'a b'"},
    {"title": "Shell: npm test -- 'a b'"},
    {"title": "Run `npm test -- 'a b'`"},
    {"title": "Shell", "reason": "$ npm test -- 'a b'"},
    {"title": "Shell", "text": "Requesting approval to perform: Run command `npm test -- 'a b'`"},
    {"title": "Shell", "text": "This runs the tests:\n```sh\nnpm test -- 'a b'\n```\n"},
)


def placed(user: User, words: tuple[str, ...], about: dict[str, Any]) -> tuple[list[str], Any]:
    (user.root / "sub").mkdir(exist_ok=True)
    where = about.get("cwd")
    about = about if where is None else {**about, "cwd": str(user.root / where)}
    return [word.replace("{root}", str(user.root)) for word in words], about


async def shows(user: User, shown: dict[str, Any]) -> ToolCall:
    """The agent asks for a command in one of these ways, and the user says yes."""
    about = dict(shown)
    text = about.pop("text", None)
    call = edit(kind="execute" if "command" in about else "other")
    if text is not None:
        call.replace_content([TextContent(text=text)], lambda _: ())
    await user.approve(call, **about, cwd=str(user.root))
    return call


@pytest.mark.parametrize(("words", "about"), SPELLINGS)
@pytest.mark.parametrize("shown", SHOWN)
async def test_a_yes_to_a_command_covers_its_terminal_however_it_was_shown(
    user: User, shown: dict[str, Any], words: tuple[str, ...], about: dict[str, Any]
) -> None:
    """Issue 12: one yes for one act, also where the command stands in the title or the text."""
    await shows(user, shown)
    command, where = placed(user, words, about)
    assert await user.runs(*command, **where)
    assert len(user.asked) == 1


@pytest.mark.parametrize(("words", "about"), OTHERS)
@pytest.mark.parametrize("shown", SHOWN)
async def test_another_command_or_folder_is_asked_for_however_the_first_was_shown(
    user: User, shown: dict[str, Any], words: tuple[str, ...], about: dict[str, Any]
) -> None:
    """Issue 12: an approval is not a blank cheque."""
    await shows(user, shown)
    command, where = placed(user, words, about)
    assert not await user.runs(*command, **where)
    assert user.asked[-1].origin == "terminal"
    assert user.asked[-1].approved_call == shown.get("title", "Asked")


@pytest.mark.parametrize(
    "text",
    [
        "First `ls`, and never `rm -rf build`",
        "I would like to tidy up\nrm -rf build\nand go on",
        "```\nls\n```\n```\nrm -rf build\n```",
        "echo rm -rf build",
        "rm -rf build " + "x" * (64 * 1024),
        "",
        "Never run: rm -rf build",
        "Skip: rm -rf build",
        "I will not run `rm -rf build`",
        "I won’t run\n```\nrm -rf build\n```",
        "`rm -rf build` is to be avoided",
    ],
)
async def test_a_command_that_only_occurs_in_a_text_is_asked_for(user: User, text: str) -> None:
    """Issue 12: the text must show the command, and nothing else beside it."""
    await shows(user, {"title": "Tidy up", "text": text})
    assert not await user.runs("rm", "-rf", "build")


async def test_what_the_agent_says_after_the_yes_widens_nothing(user: User) -> None:
    """Issue 12: kimi-code says its input after the approval; a liar would say another one."""
    call = await shows(user, {"title": "Shell: touch a"})
    call.patch(raw_input=Raw(b'{"command":"touch b"}'))
    assert not await user.runs("touch", "b")
    assert await user.runs("touch", "a")


async def test_a_command_in_the_title_that_only_a_rule_allowed_covers_nothing(user: User) -> None:
    """Issue 12: nobody read it; what it runs is judged as what it is."""
    user.permissions.add_rule(Rule(effect="allow", kind="other"))
    await shows(user, {"title": "Shell: rm x"})
    assert user.asked == []
    assert not await user.runs("rm", "x")
    assert user.asked[-1].origin == "terminal"


async def test_one_yes_is_for_one_start(user: User) -> None:
    """Issue 12: one yes for one act."""
    call = await shows(user, {"command": "make"})
    assert await user.runs("make")
    assert not await user.runs("make")
    assert [one.origin for one in user.asked] == ["agent", "terminal"]
    assert user.asked[-1].approved_call == "Asked"
    call.report("failed")
    assert not await user.runs("make")
    assert user.asked[-1].approved_call is None


async def test_one_yes_is_for_one_write_of_each_change_that_was_shown(user: User) -> None:
    """Issue 12: a second change of a file is another act, unless the call showed two."""
    a, b = f"{user.root}/a", f"{user.root}/b"
    call = edit(a)
    for path in (a, b, b):
        also_changes(call, FileDiff(path))
    await user.approve(call)
    assert await user.writes(a, "1")
    assert await user.writes(a, "1"), "a retry of the same write is the same act"
    assert not await user.writes(a, "2")
    assert await user.writes(b, "1")
    assert await user.writes(b, "2")
    assert not await user.writes(b, "3")


async def test_a_call_of_another_kind_is_not_named_when_we_ask(user: User) -> None:
    """Issue 12: it says that the agent did not ask where it did not."""
    await user.approve(edit(f"{user.root}/a"))
    assert not await user.runs("make")
    assert user.asked[-1].approved_call is None


async def test_a_call_without_a_kind_that_covers_no_write_is_named_when_we_ask(user: User) -> None:
    """Ours, found with goose: its tool was allowed, so it is untrue that it did not ask."""
    await user.approve(edit(kind="other"), title="write made.txt")
    assert not await user.writes(f"{user.root}/made.txt")
    assert user.asked[-1].approved_call == "write made.txt"


async def test_the_grant_of_a_command_ends_with_its_call(user: User) -> None:
    """Contract: while the call is not final."""
    call = await shows(user, {"command": "make"})
    call.report("failed")
    assert not await user.runs("make")


async def test_a_command_without_a_tool_call_is_covered_once(user: User) -> None:
    """Ours: nothing tells when it is over."""
    await user.approve(kind="execute", command="make", cwd=str(user.root))
    assert await user.runs("make")
    assert not await user.runs("make")


async def test_a_command_in_an_unknown_directory_is_not_covered(user: User) -> None:
    """Issue: what is not understood is never approval."""
    await user.approve(edit(kind="execute"), command="make", cwd="~/x")
    assert not await user.runs("make")
    assert not await user.runs("make", cwd="~/x")
    unknown = Permissions.ask(user._answer)
    assert not await unknown.may_run("never announced", "make")


async def test_a_rule_that_rejects_beats_the_grant_of_a_call(user: User) -> None:
    """Issue: writes pass the same policy."""
    await user.approve(edit(f"{user.root}/.env"))
    user.permissions.add_rule(Rule(effect="reject", path="**/.env"))
    assert not await user.writes(f"{user.root}/.env")


async def test_a_call_approved_by_a_rule_ends_with_the_rule(user: User) -> None:
    """Issue: a revoked rule binds running sessions at once."""
    rule = Rule(effect="allow", command="make")
    user.permissions.add_rule(rule)
    await user.approve(edit(kind="execute"), command="make", cwd=str(user.root))
    assert user.asked == []
    assert await user.runs("make")
    user.permissions.remove_rule(rule)
    assert not await user.runs("make")


async def test_a_call_approved_for_longer_ends_with_the_grant(user: User) -> None:
    """Issue: a revoked rule binds running sessions at once."""
    user.answer = Decision("allow_once", "session")
    await user.approve(edit(f"{user.root}/a"))
    assert await user.writes(f"{user.root}/a")
    [grant] = user.permissions.remembered()
    user.permissions.revoke(grant.grant_id)
    assert not await user.writes(f"{user.root}/a")


async def test_another_session_is_not_covered(user: User) -> None:
    """Users: grants leaked into other sessions."""
    await user.approve(edit(f"{user.root}/a"))
    assert not await user.permissions.may_write("t", f"{user.root}/a")


async def test_the_oldest_approvals_are_forgotten_over_the_bound(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: everything has a bound."""
    monkeypatch.setattr(module, "APPROVALS_MAX", 1)
    await user.approve(edit(f"{user.root}/a"))
    await user.approve(edit(f"{user.root}/b"))
    assert await user.writes(f"{user.root}/b")
    assert not await user.writes(f"{user.root}/a")


async def test_the_user_is_told_what_is_asked(user: User) -> None:
    """Contract: a synthesised request has four options and says where it comes from."""
    await user.writes("/x/a")
    await user.runs("make", "all", cwd="/x")
    write, run = user.asked
    assert (write.title, write.kind, write.paths) == ("Write /x/a", "edit", ("/x/a",))
    assert (run.title, run.kind, run.command, run.cwd) == (
        "Run make all",
        "execute",
        "make all",
        "/x",
    )
    kinds = {"allow_once", "allow_always", "reject_once", "reject_always"}
    assert {option.kind for option in write.options} == kinds
