"""The permissions of a run, put together from flags, files and answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.cli.agent_setup.permissions import (
    GROUPS,
    KIND_WORDS,
    KindError,
    PermissionFlags,
    deciding,
    read_kinds,
)
from accord.cli.run.exit_status import Outcome
from accord.client.permissions.request import OWN_OPTIONS, Decided, PermissionRequest
from accord.client.permissions.rules import Rule
from accord.configuration.config_file import Config, PermissionSettings
from accord.errors import ConfigError
from accord.transcript.items.tool_call import KINDS_OF_TOOL


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh configuration."""
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "config").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "more").mkdir()
    return tmp_path


def test_kinds_are_words_with_commas_and_groups_of_them() -> None:
    """docs/reference/run.md."""
    assert read_kinds(["read, edit", "run", "edit"]) == ("read", "edit", "execute")
    assert read_kinds(["write"]) == ("edit", "delete", "move")
    assert set(read_kinds(["all"])) == KINDS_OF_TOOL
    with pytest.raises(KindError, match="'nothing' is not a kind of tool"):
        read_kinds(["read,nothing"])


def test_the_help_names_every_kind_and_group() -> None:
    """Ours: a kind that is not shown is not found."""
    assert set(KIND_WORDS.split(", ")) == KINDS_OF_TOOL | GROUPS.keys()


def test_the_advice_for_a_change_that_calls_itself_reading_is_to_allow_edits() -> None:
    """Ours: `--allow read` does not allow a call that shows a change."""
    request = PermissionRequest("s", "it", OWN_OPTIONS, kind="read")
    denied = Decided(
        request, False, False, "default", beyond=("/w/.envrc", "something executes it")
    )
    sentence = Outcome(stop_reason="end_turn", denied=[denied]).sentence() or ""
    assert "`--allow edit` does not cover /w/.envrc" in sentence
    assert "`--allow edit=/w/.envrc` does" in sentence


async def _allowed(places: Path, wishes: PermissionFlags, kind: str, **more: object) -> bool:
    roots = (str(places / "project"), str(places / "more"))
    permissions = deciding(wishes, Config(), roots, attended=False).permissions(None)
    permissions.add_session("s", roots[0])
    request = PermissionRequest("s", "it", OWN_OPTIONS, kind=kind, **more)  # type: ignore[arg-type]
    option = request.option((await permissions.decide(request)).option_id or "")
    return option is not None and option.allows


@pytest.mark.parametrize(
    ("kind", "path", "allowed"),
    [
        ("read", "project/a", True),
        ("search", "project/deep/a", True),
        ("read", "more/a", True),
        ("read", "elsewhere", False),
        ("read", "project/../elsewhere", False),
        ("read", None, False),
        ("think", None, True),
        ("edit", "project/a", False),
        ("fetch", None, False),
        ("other", None, False),
    ],
)
async def test_without_a_word_only_the_folders_may_be_read(
    places: Path, kind: str, path: str | None, allowed: bool
) -> None:
    """docs/reference/run.md: the safe default; what names no file may mean any."""
    paths = () if path is None else (str(places / path),)
    assert await _allowed(places, PermissionFlags(), kind, paths=paths) is allowed


async def test_a_link_out_of_the_folder_is_not_in_it(places: Path) -> None:
    """Ours: real paths count."""
    (places / "project" / "link").symlink_to("/etc")
    path = str(places / "project" / "link" / "passwd")
    assert not await _allowed(places, PermissionFlags(), "read", paths=(path,))


async def test_all_is_a_command_of_no_kind_too(places: Path) -> None:
    """goose: its calls have no kind."""
    everything = PermissionFlags(allow=read_kinds(["all"]))
    assert await _allowed(places, everything, "other", command="make; make test")
    assert not await _allowed(
        places, PermissionFlags(allow=everything.allow, deny=everything.allow), "read"
    )


def test_the_questions_depend_on_the_flags_and_on_the_terminal() -> None:
    """docs/reference/run.md: who decides, 5."""
    here = ("/",)
    for wishes, attended, otherwise, may_ask in (
        (PermissionFlags(), False, "reject", False),
        (PermissionFlags(), True, "ask", True),
        (PermissionFlags(ask=True), False, "ask", True),
        (PermissionFlags(allow=("edit",)), True, "reject", True),
        (PermissionFlags(allow=("edit",), ask=True), True, "ask", True),
    ):
        found = deciding(wishes, Config(), here, attended=attended)
        assert (found.otherwise, found.may_ask) == (otherwise, may_ask), wishes


def test_a_policy_that_is_named_decides_alone(places: Path) -> None:
    """docs/reference/run.md: neither permissions.toml nor remembered answers count."""
    (places / "config" / "permissions.toml").write_text('[[rule]]\neffect = "allow"\n')
    (places / "ci.toml").write_text(
        'otherwise = "allow"\n[[rule]]\neffect = "reject"\nkind = "edit"'
    )
    found = deciding(PermissionFlags(policy=places / "ci.toml"), Config(), ("/",), attended=False)
    assert (found.rules, found.otherwise) == ((Rule(effect="reject", kind="edit"),), "allow")
    assert found.grants is None
    assert (
        Rule(effect="allow") in deciding(PermissionFlags(), Config(), ("/",), attended=False).rules
    )


def test_a_policy_of_the_configuration_must_be_there(places: Path) -> None:
    """Ours: a policy that is missing is not no policy."""
    config = Config(permissions=PermissionSettings(policy=places / "no.toml"))
    with pytest.raises(ConfigError, match=r"the policy .* does not exist"):
        deciding(PermissionFlags(), config, ("/",), attended=False)


def test_a_kind_may_be_limited_in_so_many_words() -> None:
    """Issue 12: `--allow edit=PATH` and `--allow 'execute=pytest *'`."""
    assert read_kinds(["read,edit=a,b"]) == ("read", "edit=a,b")
    assert read_kinds(["write=src"]) == ("edit=src", "delete=src", "move=src")
    for wrong in ("all=x", "think=x", "nothing=x"):
        with pytest.raises(KindError):
            read_kinds([wrong])


@pytest.mark.parametrize(
    ("word", "kind", "more", "allowed"),
    [
        ("edit", "edit", {"paths": ("a.py",)}, True),
        ("edit", "edit", {"paths": (".git/hooks/x",)}, False),
        ("edit", "edit", {"paths": ("../elsewhere",)}, False),
        ("edit", "edit", {}, False),
        ("edit=.git", "edit", {"paths": (".git/hooks/x",)}, True),
        ("edit=.git/hooks/x", "edit", {"paths": (".git/hooks/y",)}, False),
        ("edit=src", "edit", {"paths": ("src/deep/a.py",)}, True),
        ("edit=src", "edit", {"paths": ("a.py",)}, False),
        ("edit=~/.bashrc", "edit", {"paths": ("/home/nobody/.bashrc",)}, True),
        ("execute=pytest *", "execute", {"command": "pytest -q tests"}, True),
        ("execute=pytest *", "execute", {"command": "pytest"}, True),
        ("execute=pytest *", "execute", {"command": "pytest; rm x"}, False),
        ("fetch=example.org", "fetch", {"hosts": ("example.org",)}, True),
        ("other=db/query", "other", {"mcp_tool": "db/query"}, True),
        ("other=db/query", "other", {"mcp_tool": "db/drop"}, False),
    ],
)
async def test_what_follows_a_kind_is_all_that_is_allowed(
    places: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    kind: str,
    more: dict[str, object],
    allowed: bool,
) -> None:
    """Issue 12, docs/reference/run.md."""
    monkeypatch.setenv("HOME", "/home/nobody")
    for folder in (".git/hooks", "src/deep"):
        (places / "project" / folder).mkdir(parents=True)
    assert (
        await _allowed(places, PermissionFlags(allow=read_kinds([word])), kind, **more) is allowed
    )


def test_what_cannot_be_a_rule_is_wrong_usage(places: Path) -> None:
    """Issue 12: a typing error is not approval."""
    roots = (str(places / "project"),)
    for word in ("edit=../x", "execute= ", "fetch=not a host", "other=tool"):
        with pytest.raises(KindError, match=word.partition("=")[0]):
            deciding(PermissionFlags(allow=read_kinds([word])), Config(), roots, attended=False)
