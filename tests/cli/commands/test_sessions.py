"""`accord sessions`: what it shows, what it throws away, and what it leaves alone."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.cli.commands import sessions
from accord.cli.main import main
from accord.schema import v2
from accord.store import SessionRecord
from accord.store.sqlite import SqliteStore

Said = Callable[..., str]
NAMED = (("a", "real"), ("b", "link"), ("c", "."))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the store is."""
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "state" / "sessions.sqlite3"


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command; what it says on both streams, and that its exit code is right."""

    def run(*arguments: str, code: int = 0) -> str:
        assert main(["sessions", *arguments]) == code
        out, err = capsys.readouterr()
        return out + err

    return run


PATCH = "--- /w/a.py\n+++ /w/a.py\n@@ -1 +1 @@\n-one\n+two\n"
UPDATES: tuple[Any, ...] = (
    v2.UserMessage(message_id="p", content=[v2.TextContent(text="mend \x1b[31mit")]),
    v2.AgentThoughtChunk(message_id="t", content=v2.TextContent(text="hm\nhm")),
    v2.PlanUpdate(
        plan=v2.PlanItems(
            plan_id="1",
            entries=[
                v2.PlanEntry(content="look", priority="high", status="completed"),
                v2.PlanEntry(content="mend", priority="low", status="pending"),
            ],
        )
    ),
    v2.ToolCallUpdate(
        tool_call_id="c",
        title="Editing",
        kind="edit",
        status="completed",
        content=[
            v2.Diff(
                changes=[v2.DiffModify(path="/w/a.py")],
                patch=v2.DiffPatch(format="git_patch", text=PATCH),
            ),
            v2.Content(content=v2.TextContent(text="````\nfence")),
        ],
    ),
    v2.AgentMessageChunk(message_id="m", content=v2.TextContent(text="Mended ")),
    v2.AgentMessageChunk(message_id="m", content=v2.TextContent(text="it.")),
)


def fill(path: Path, *records: SessionRecord, updates: tuple[Any, ...] = UPDATES) -> None:
    """Sessions of a process that has ended."""

    async def work() -> None:
        store = SqliteStore(path)
        for record in records:
            log = await store.create(record)
            for update in updates:
                writing = log.append(update)
                assert writing is not None
                await writing
        await store.aclose()

    anyio.run(work)


def record(name: str, **more: Any) -> SessionRecord:
    """A session that was used in May."""
    return SessionRecord(name, "/w", updated_at="2026-05-01T10:20:30.000Z", **more)


def test_a_folder_is_found_by_each_of_its_names(path: Path, said: Said, tmp_path: Path) -> None:
    """Found in review: the sessions of a link were in the list of no folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    named = [SessionRecord(name * 32, str(tmp_path / where)) for name, where in NAMED]
    fill(path, *named, updates=())
    for name in ("real", "link"):
        listed = said("list", "--cwd", str(tmp_path / name))
        assert [line[:1] for line in listed.splitlines()] == ["b", "a"]


def test_without_a_store_there_are_no_sessions(path: Path, said: Said) -> None:
    """Ours: asking makes nothing."""
    assert said("list") == "No sessions.\n"
    assert said("list", "--json") == ""
    assert said("prune", "--older-than", "1") == "Nothing to delete.\n"
    assert json.loads(said("prune", "--older-than", "1", "--json")) == {"pruned": []}
    assert "there are no sessions in" in said("show", "abc", code=1)
    assert not path.parent.exists()


def test_sessions_are_listed(path: Path, said: Said, tmp_path: Path) -> None:
    """Issue: accord sessions list."""
    elsewhere = SessionRecord("b" * 32, str(tmp_path.resolve()), archived=True, turn_open=True)
    fill(path, record("a" * 32, title="Mend\nit"), elsewhere, updates=())
    assert said("list").splitlines() == [
        f"bbbbbbbbbbbb    (no title)  {tmp_path.resolve()}  (archived, interrupted)",
        "aaaaaaaaaaaa  2026-05-01 10:20  Mend it  /w",
    ]
    assert said("list", "--cwd", str(tmp_path)).startswith("bbbb")
    assert said("list", "--here") == "No sessions.\n"
    assert [json.loads(line)["sessionId"][0] for line in said("list", "--json").splitlines()] == [
        "b",
        "a",
    ]


def test_a_list_has_no_secrets(path: Path, said: Said) -> None:
    """Issue 12: every way out; a title is what somebody said."""
    fill(path, record("a" * 32, title="Use ghp_" + "a1" * 18), updates=())
    assert "Use [secret]" in said("list")
    assert json.loads(said("list", "--json"))["title"] == "Use [secret]"


def test_a_session_is_shown_as_it_was(path: Path, said: Said) -> None:
    """Issue: accord sessions show; and nothing in it commands the terminal."""
    fill(path, record("abc", title="Mending"))
    assert said("show", "ab") == (
        "# Mending\n\nSession abc in /w\nLast used 2026-05-01T10:20:30.000Z\n"
        "\n## You\n\nmend it\n"
        "\n## Thought\n\n> hm\n> hm\n"
        "\n### Plan\n\n- [x] look\n- [ ] mend\n"
        "\n### Editing (edit, completed)\n"
        "\n```diff\n--- /w/a.py\n+++ /w/a.py\n@@ -1 +1 @@\n-one\n+two\n```\n"
        "\n`````\n````\nfence\n`````\n"
        "\n## Agent\n\nMended it.\n"
    )


def test_an_export_has_every_update(path: Path, said: Said, tmp_path: Path) -> None:
    """Issue: export as Markdown and JSON; a file is the user's alone."""
    fill(path, record("abc", title="Mending"))
    shown = json.loads(said("show", "abc", "--json"))
    assert json.loads(said("export", "abc", "--format", "json")) == shown
    assert shown["title"] == "Mending"
    kinds = [update["sessionUpdate"] for update in shown["updates"]]
    assert kinds == [
        "user_message",
        "agent_thought_chunk",
        "plan_update",
        "tool_call_update",
        "agent_message_chunk",
    ]
    target = tmp_path / "out.md"
    assert said("export", "abc", "--output", str(target)) == ""
    assert target.read_text().startswith("# Mending\n")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_session_is_named_so_that_no_other_is_meant(path: Path, said: Said) -> None:
    """Ours: a beginning will do, if it is the only one."""
    fill(path, record("abc"), record("abd"), updates=())
    assert "2 sessions start with 'ab'" in said("show", "ab", code=1)
    assert "there is no session 'x'" in said("delete", "x", code=1)
    assert said("delete", "abd") == "deleted: abd\n"
    assert said("list").startswith("abc ")


def test_old_sessions_are_thrown_away_and_say_so(path: Path, said: Said) -> None:
    """Issue: prune, and pruned sessions say so."""
    fill(path, record("old"), SessionRecord("new", "/w", updated_at="2999-01-01T00:00:00.000Z"))
    assert said("prune", "--older-than", "1", "--keep", "2") == "Nothing to delete.\n"
    assert said("prune", "--older-than", "1") == "deleted: old\n"
    assert "was pruned at" in said("show", "old", code=1)
    assert said("delete", "old") == "deleted: old\n"
    for wrong in ("-1", "soon", "1e9"):
        with pytest.raises(SystemExit):
            main(["sessions", "prune", f"--older-than={wrong}"])
    with pytest.raises(SystemExit):
        main(["sessions", "prune", "--older-than=1", "--keep=few"])


def test_what_is_open_elsewhere_is_left_alone(path: Path, said: Said) -> None:
    """Issue: owned by one at a time; reading disturbs nobody."""

    async def work() -> None:
        store = SqliteStore(path)
        await store.create(record("abc"))
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(look)
        await store.aclose()

    def look() -> None:
        assert "(open in process " in said("list")
        assert "Session abc in /w" in said("show", "abc")
        assert "is open in another process" in said("delete", "abc", code=1)
        assert "is open in another process" in said("resume", "abc", code=1)

    anyio.run(work)


def test_a_session_goes_on(
    path: Path, said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: accord sessions resume; with a prompt it is a run."""
    fill(path, SessionRecord("abc", str(tmp_path)), updates=())
    assert "not a terminal" in said("resume", "abc", code=1)
    ran: list[list[str]] = []

    def noted(arguments: list[str]) -> int:
        ran.append(arguments)
        return 7

    monkeypatch.setattr("accord.cli.main.main", noted)
    assert sessions._resume(SessionRecord("abc", "/w"), "-v is what?") == 7
    assert ran[0][:6] == ["run", "--session", "abc", "--cwd", "/w", " -v is what?"]
    assert ran[0][6] == "--"
