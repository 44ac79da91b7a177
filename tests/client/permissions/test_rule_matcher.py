"""Rules: what they cover, what they touch, and who wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import OWN_OPTIONS, PermissionRequest
from accord.client.permissions.rule_matcher import Facts, ReadRule, judge, rules_of
from accord.client.permissions.rules import Effect, Rule
from accord.transcript.items.tool_call import FileDiff, ToolCall
from tests.client.deciders import also_changes

WORKSPACE = "/nowhere/work"


def facts(**about: Any) -> Facts:
    """A request of a session in the workspace, read."""
    about.setdefault("title", "A request")
    return Facts.of(PermissionRequest(session_id="s", options=OWN_OPTIONS, **about), WORKSPACE)


def verdict(
    *rules: Rule, grants: tuple[Rule, ...] = (), otherwise: Effect = "ask", **about: Any
) -> Effect:
    """What the rules say about a request."""
    read = [ReadRule(rule) for rule in rules]
    return judge(read, [ReadRule(rule) for rule in grants], facts(**about), otherwise)[0]


def allow(**what: Any) -> Rule:
    return Rule(effect="allow", **what)


def reject(**what: Any) -> Rule:
    return Rule(effect="reject", **what)


def ask(**what: Any) -> Rule:
    return Rule(effect="ask", **what)


def test_kinds_paths_commands_tools_and_hosts_are_matched() -> None:
    """Issue: rules by tool kind, path, command and MCP tool; network hosts match too."""
    assert verdict(allow(kind="read"), kind="read", paths=("/a",)) == "allow"
    assert verdict(allow(kind="read"), kind="edit", paths=("/a",)) == "ask"
    assert verdict(allow(path="src/**"), kind="edit", paths=(f"{WORKSPACE}/src/a",)) == "allow"
    assert verdict(allow(command="git status"), kind="execute", command="git status -s") == "allow"
    assert verdict(allow(mcp_tool="db/*"), mcp_tool="db/query") == "allow"
    assert verdict(allow(host="*.a.org"), kind="fetch", hosts=("x.a.org",)) == "allow"


def test_every_path_of_a_request_must_be_covered() -> None:
    """Issue: what is not understood is never approval; half an approval is none."""
    inside, outside = f"{WORKSPACE}/src/a", "/etc/passwd"
    rules = (allow(path="src/**"), allow(path="tests/**"))
    assert verdict(*rules, paths=(inside, f"{WORKSPACE}/tests/t")) == "allow"
    assert verdict(*rules, paths=(inside, outside)) == "ask"
    assert verdict(*rules, paths=(inside,), hosts=("evil.org",)) == "ask"
    assert verdict(*rules, paths=()) == "ask"


def test_one_rejected_path_rejects_the_request() -> None:
    """Ours: the strictest point decides."""
    rules = (allow(kind="edit"), reject(path="**/.env"))
    assert verdict(*rules, kind="edit", paths=(f"{WORKSPACE}/a",)) == "allow"
    both = (f"{WORKSPACE}/a", f"{WORKSPACE}/x/.env")
    assert verdict(*rules, kind="edit", paths=both) == "reject"
    assert verdict(*rules, kind="execute", command="cat x/.env", paths=both) == "reject"


def test_a_path_rule_does_not_cover_a_command_or_a_tool() -> None:
    """Ours: a call with a harmless location may still run anything."""
    path = (f"{WORKSPACE}/src/a",)
    assert verdict(allow(path="src/**"), kind="execute", paths=path, command="rm x") == "ask"
    assert verdict(allow(path="src/**"), paths=path, mcp_tool="db/drop") == "ask"
    assert verdict(allow(host="a.org"), hosts=("a.org",), command="curl a.org") == "ask"
    assert verdict(allow(host="a.org"), hosts=("a.org",), paths=path) == "ask"


def test_a_kind_that_reads_does_not_cover_a_command() -> None:
    """Ours: the agent names the kind; that does not make `rm` a way of reading."""
    assert verdict(allow(kind="read"), kind="read", command="rm -rf /") == "ask"
    assert verdict(allow(kind="execute"), kind="execute", command="make") == "allow"


def test_a_call_that_shows_a_change_is_an_edit() -> None:
    """Ours: whoever shows a diff is not just reading."""
    call = ToolCall("t")
    path = f"{WORKSPACE}/a"
    also_changes(call, FileDiff(path))
    about: dict[str, Any] = {"kind": "read", "tool_call": call, "paths": (path,)}
    assert verdict(allow(kind="read"), **about) == "ask"
    assert verdict(allow(kind="edit"), **about) == "allow"


@pytest.mark.parametrize(
    "line", ["git status; rm -rf /", "git status $(rm x)", "env git status", "cd / && git status"]
)
def test_a_prefix_does_not_cover_a_shell_line(line: str) -> None:
    """Issue: `git status` does not cover `git status; rm -rf /`."""
    rules = (allow(command="git status"), allow(command="git"))
    assert verdict(*rules, kind="execute", command=line) == "ask"
    assert verdict(allow(command=line, exact=True), kind="execute", command=line) == "allow"


def test_a_rule_that_is_a_shell_line_means_that_line() -> None:
    """Ours: a line with operators only matches itself."""
    rule = allow(command="make lint | tee out")
    assert verdict(rule, command="make lint | tee out") == "allow"
    assert verdict(rule, command="make lint | tee out2") == "ask"


def test_a_rule_that_rejects_a_command_looks_everywhere() -> None:
    """Ours: and where it cannot see, it asks, whatever else allows."""
    rules = (allow(kind="execute"), reject(command="rm"))
    assert verdict(*rules, kind="execute", command="ls") == "allow"
    assert verdict(*rules, kind="execute", command="ls && /bin/rm x") == "reject"
    assert verdict(*rules, kind="execute", command="bash -c 'rm x'") == "reject"
    assert verdict(*rules, kind="execute", command="$(printf rm) x") == "reject"
    exact = reject(command="git push", exact=True)
    assert verdict(allow(), exact, kind="execute", command="cd x; git push") == "reject"
    assert verdict(allow(), exact, kind="execute", command="git push -n") == "allow"


def test_rejecting_beats_a_grant_beats_asking_beats_allowing() -> None:
    """Ours: the order that the head of the module promises."""
    about: dict[str, Any] = {"kind": "edit", "paths": (f"{WORKSPACE}/a",)}
    yes, no, maybe = allow(kind="edit"), reject(kind="edit"), ask(kind="edit")
    assert verdict(yes, maybe, **about) == "ask"
    assert verdict(yes, maybe, no, **about) == "reject"
    assert verdict(maybe, grants=(yes,), **about) == "allow"
    assert verdict(yes, grants=(no,), **about) == "reject"
    assert verdict(no, grants=(yes,), **about) == "reject"
    assert verdict(otherwise="allow", **about) == "allow"
    assert verdict(otherwise="reject", **about) == "reject"


def test_a_call_of_no_kind_may_be_of_a_rejected_kind() -> None:
    """Issue: what is not understood is never approval."""
    rules = (allow(), reject(kind="delete"))
    assert verdict(*rules, kind="read") == "allow"
    assert verdict(*rules, kind="delete") == "reject"
    assert verdict(*rules, kind="other") == "ask"
    assert verdict(*rules, kind="_annihilate") == "ask"


def test_what_cannot_be_read_is_covered_by_nothing_but_a_blanket_rule() -> None:
    """Issue: what is not understood is never approval."""
    odd: dict[str, Any] = {"kind": "edit", "paths": ("file:///etc/passwd",)}
    assert verdict(allow(path="/**"), allow(path="**"), **odd) == "ask"
    assert verdict(allow(kind="edit"), **odd) == "ask"
    assert verdict(allow(), **odd) == "allow"
    assert verdict(allow(), reject(path="/etc/**"), **odd) == "ask"
    assert verdict(allow(), reject(host="a.org"), kind="fetch", hosts=("a..b",)) == "ask"
    assert verdict(allow(host="a.org"), kind="fetch", hosts=("a..b",)) == "ask"


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("edit", {"path": "**/.env"}),
        ("fetch", {"host": "evil.org"}),
        ("execute", {"command": "rm"}),
    ],
)
def test_a_call_that_hides_what_it_is_about_is_not_approved(
    kind: str, rule: dict[str, Any]
) -> None:
    """Issue: what is not understood is never approval."""
    assert verdict(allow(), kind=kind) == "allow"
    assert verdict(allow(), reject(**rule), kind=kind) == "ask"
    assert verdict(allow(), reject(**rule), kind="think") == "allow"


def test_a_request_with_too_many_paths_is_not_understood() -> None:
    """Ours: everything has a bound, and what is beyond it is not approved."""
    many = tuple(f"{WORKSPACE}/{number}" for number in range(257))
    assert verdict(allow(path="**"), kind="edit", paths=many) == "ask"
    assert verdict(allow(path="**"), kind="edit", paths=many[:256]) == "allow"


@pytest.mark.rule("V1-SESS-18")
def test_a_rule_is_held_against_the_real_path(tmp_path: Path) -> None:
    """Issue: no `..` tricks, no symlink tricks."""
    root = tmp_path.resolve()
    (root / "src").mkdir()
    (root / "src" / "link").symlink_to(root)
    rule = ReadRule(allow(path="src/**"))

    def says(path: str) -> Effect:
        request = PermissionRequest(session_id="s", title="t", options=(), paths=(path,))
        return judge([rule], [], Facts.of(request, str(root)), "ask")[0]

    assert says(f"{root}/src/a") == "allow"
    assert says(f"{root}/src/../a") == "ask"
    assert says(f"{root}/src/link/a") == "ask"
    assert says(f"{root}/src/link/src/a") == "allow"


def test_a_rule_that_rejects_also_looks_at_the_spelling(tmp_path: Path) -> None:
    """Ours: a link named `secret` is meant, wherever it leads."""
    root = tmp_path.resolve()
    (root / "elsewhere").mkdir()
    (root / "secret").symlink_to(root / "elsewhere")
    rule = ReadRule(reject(path="secret/**"))
    request = PermissionRequest(session_id="s", title="t", options=(), paths=(f"{root}/secret/a",))
    assert judge([rule], [], Facts.of(request, str(root)), "allow")[0] == "reject"


def test_a_command_rule_may_be_bound_to_a_directory() -> None:
    """Ours: `rm -rf build` here is not `rm -rf build` there."""
    rule = allow(command="make", cwd="/w")
    assert verdict(rule, command="make", cwd="/w/sub") == "allow"
    assert verdict(rule, command="make", cwd="/wx") == "ask"
    assert verdict(rule, command="make", cwd="~/w") == "ask"
    no = reject(command="make", cwd="/w")
    assert verdict(allow(), no, kind="execute", command="make", cwd="/w") == "reject"
    assert verdict(allow(), no, kind="execute", command="make", cwd="/x") == "allow"
    assert verdict(allow(), no, kind="execute", command="make", cwd="~/w") == "ask"


def test_a_title_rule_is_for_requests_of_which_nothing_else_is_known() -> None:
    """Ours: else an agent could name anything alike."""
    rule = allow(kind="think", title="Ponder")
    assert verdict(rule, kind="think", title="Ponder") == "allow"
    assert verdict(rule, kind="think", title="Ponder!") == "ask"
    assert verdict(rule, kind="think", title="Ponder", paths=("/a",)) == "ask"
    assert verdict(allow(), reject(title="Ponder"), kind="think", title="Ponder") == "reject"
    assert verdict(allow(), reject(mcp_tool="a/b"), kind="other", mcp_tool="a/b") == "reject"
    assert verdict(allow(), reject(mcp_tool="a/b"), kind="other", mcp_tool="a/c") == "allow"


@pytest.mark.parametrize(
    "wrong",
    [
        {"effect": "permit"},
        {"kind": "reed"},
        {"path": "a", "command": "b"},
        {"path": ""},
        {"command": "  "},
        {"mcp_tool": "tool"},
        {"host": "https://a.org"},
        {"cwd": "/w"},
        {"command": "a", "cwd": "w"},
        {"command": "git", "kind": "edit"},
        {"path": Path("/a")},
        {"command": ["git", "status"]},
        {"command": "a", "cwd": Path("/w")},
    ],
)
def test_a_rule_that_cannot_be_is_refused_when_it_is_made(wrong: dict[str, Any]) -> None:
    """Ours: a caller's mistake raises, before it decides anything."""
    with pytest.raises(ValueError):
        Rule(**{"effect": "allow", **wrong})


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"kind": "edits"}, "the kinds are delete, edit, execute, fetch"),
        ({"path": "a", "command": "b"}, "not path and command"),
        ({"kind": "edit", "command": "git"}, "would never match; leave the kind out"),
        ({"path": Path("/a")}, "path is text"),
    ],
)
def test_the_mistake_in_a_rule_is_named(wrong: dict[str, Any], hint: str) -> None:
    """Ours: what is ignored in silence looks like protection."""
    with pytest.raises(ValueError, match=hint):
        Rule(**{"effect": "allow", **wrong})


@pytest.mark.parametrize(
    ("rules", "more", "hint"),
    [
        ([], {"otherwise": "deny"}, "otherwise is allow, reject or ask, not 'deny'"),
        ([("allow", "edit")], {}, r"\('allow', 'edit'\) is not a rule; write Rule\("),
        ([Rule], {}, "is not a rule"),
        (Rule(effect="allow"), {}, "a list of Rule"),
        ("allow", {}, "a list of Rule"),
        (None, {}, "a list of Rule"),
        ([], {"ask": True}, "not callable"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(rules: Any, more: dict[str, Any], hint: str) -> None:
    """Ours: the same, for the whole."""
    with pytest.raises(ValueError, match=hint):
        Permissions.policy(rules, **more)


def test_a_rule_that_is_none_cannot_be_added() -> None:
    """Ours: later is as bad as at once."""
    permissions = Permissions()
    wrong: Any = {"effect": "allow"}
    with pytest.raises(ValueError, match="is not a rule"):
        permissions.add_rule(wrong)
    assert permissions.rules == ()


KINDS = st.sampled_from(["read", "edit", "execute", "fetch", "other", "_new"])
PATHS = st.lists(
    st.sampled_from(
        ["/nowhere/project/a", "/etc/b", "rel", "~/x", "", "/nowhere/project/src/[x]*"]
    ),
    max_size=3,
)
COMMANDS = st.none() | st.sampled_from(["ls", "ls; rm x", "bash -c ls", "$X", "git 'a b'", "A=1 b"])
HOSTS = st.lists(st.sampled_from(["a.org", "x.a.org", "bad..host", "[::1]"]), max_size=2)
TOOLS = st.none() | st.sampled_from(["db/query", "db/*", "odd"])


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Any request."""
    return {
        "kind": draw(KINDS),
        "title": draw(st.sampled_from(["One", "Two"])),
        "paths": tuple(draw(PATHS)),
        "command": draw(COMMANDS),
        "hosts": tuple(draw(HOSTS)),
        "mcp_tool": draw(TOOLS),
    }


@given(requests(), requests())
def test_a_remembered_answer_never_reaches_beyond_what_was_asked(
    asked: dict[str, Any], other: dict[str, Any]
) -> None:
    """Issue: a grant covers what it was given for.

    When a grant of one request covers another, they have the same command or tool, or the paths,
    hosts and kind of the other are among those of the one.
    """
    grants = rules_of(facts(**asked), "allow", bind_cwd=True)
    if verdict(grants=grants, **other) != "allow":
        return
    one, two = facts(**asked), facts(**other)
    if two.mcp_tool is not None:
        assert two.mcp_tool == one.mcp_tool
    elif two.command is not None:
        assert one.command is not None
        assert two.command.same(one.command)
    else:
        assert set(two.paths) <= set(one.paths)
        assert set(two.hosts) <= set(one.hosts)
        assert two.kind == one.kind or "other" in (one.kind, two.kind)
        assert two.paths or two.hosts or two.title == one.title


@given(requests())
def test_the_same_request_gets_the_same_answer_again(asked: dict[str, Any]) -> None:
    """Issue: allow and reject are remembered alike."""
    for effect in ("allow", "reject"):
        rules = rules_of(facts(**asked), effect, bind_cwd=True)
        understood = None not in facts(**asked).paths and None not in facts(**asked).hosts
        if asked["mcp_tool"] is None and asked["command"] is None:
            assert bool(rules) is understood
        if rules and asked["kind"] != "_new":
            assert verdict(grants=rules, otherwise="ask", **asked) == effect


@given(requests(), st.lists(st.sampled_from([allow(kind="read"), ask(), allow(path="/**")])))
def test_a_rule_that_rejects_is_never_outvoted(asked: dict[str, Any], others: list[Rule]) -> None:
    """Ours: no rule and no grant weakens a refusal that is meant."""
    said = verdict(reject(), *others, grants=tuple(others), otherwise="allow", **asked)
    assert said == "reject"
