"""What updates of an agent of the 2026-02 draft add up to, behind the translator."""

from typing import Any

from accord.schema import v1
from accord.schema.codec import decode, encode, to_python
from accord.transcript import (
    Command,
    ConfigOption,
    ExitStatus,
    FileDiff,
    Location,
    Transcript,
    Update,
)
from accord.transcript.items.content import text_of
from accord.translate.message import AGENT, CLIENT, Json
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import Behind


class Folding:
    """A transcript behind the translator, and the shortest way to feed it."""

    def __init__(self, **offered: Any) -> None:
        self.scene = Behind(
            details=True, agent={"sessionCapabilities": offered, "loadSession": True}
        )
        self.scene.initialize()
        self.transcript = Transcript("v1")
        opened = self.scene.open()
        self.transcript.session_setup(decode(v1.NewSessionResponse, encode(opened)))

    def told(self, tag: str, **fields: Any) -> Update | None:
        """Apply what the agent tells, and say what it changed."""
        data = {"_meta" if key == "meta_" else key: value for key, value in fields.items()}
        (update,) = self.scene.update(tag, data)
        params = {"sessionId": "s", "update": update}
        return self.transcript.apply(decode(v1.SessionNotification, encode(params)).update)

    def __call__(self, tag: str, **fields: Any) -> Update:
        """Apply an update that must change something."""
        update = self.told(tag, **fields)
        assert update is not None
        return update

    def texts(self) -> list[tuple[str, str]]:
        """Role and text of the messages."""
        return [(message.role, message.text) for message in self.transcript.messages]

    def options(self) -> list[ConfigOption]:
        return list(self.transcript.config_options)

    def ask(self, method: str, params: Json, answer: Json) -> Any:
        """Ask the agent, which gives this answer; what the client is told."""
        key = self.scene.wire.ask(CLIENT, method, params)
        asked = self.scene.wire.one(AGENT, method)
        self.scene.wire.answer(AGENT, asked.key, answer)
        return self.scene.wire.result(CLIENT, key)


def folding_draft() -> Folding:
    return Folding()


CHUNK = "agent_message_chunk"


def test_an_index_of_zero_or_the_chunk_after_a_final_one_starts_a_message() -> None:
    """Draft: chunks have no ids."""
    fold = folding_draft()
    fold(CHUNK, content="a", index=0)
    fold(CHUNK, content="b", index=1)
    fold(CHUNK, content="c", index=0, final=False)
    fold(CHUNK, content="d", index=1, final=True)
    fold(CHUNK, content="e")
    fold("thought_message_chunk", content="hm", visible=False)
    fold("thought_message_chunk", content="m")
    fold(CHUNK, content="f")
    assert [words for _, words in fold.texts()] == ["ab", "cd", "e", "f"]
    assert [thought.text for thought in fold.transcript.thoughts] == ["hmm"]


def test_a_piece_with_a_number_goes_on_with_its_message_after_a_tool_call() -> None:
    """The draft's table 5, and the whole turn of the draft's appendix."""
    fold = folding_draft()
    fold(CHUNK, content="a", index=0)
    fold("tool_call", id="c", tool="x", input={})
    fold(CHUNK, content="b", index=1, final=True)
    fold(CHUNK, content="c", index=2)
    fold("thought_message_chunk", content="hm", index=0)
    fold(CHUNK, content="d", index=3)
    fold("tool_call_update", id="c", status="completed")
    fold(CHUNK, content="e")
    assert [words for _, words in fold.texts()] == ["ab", "cd", "e"]
    fold.transcript.turn_started()
    fold(CHUNK, content="f", index=1)
    assert [words for _, words in fold.texts()] == ["ab", "cd", "e", "f"]


def test_user_messages_are_grouped_alike_and_echoes_are_recognised() -> None:
    """Draft."""
    fold = folding_draft()
    fold.transcript.prompt_sent([v1.TextContent(text="hello")])
    assert fold("user_message_chunk", content="hel", index=0).text == ""
    assert fold("user_message_chunk", content="lo", index=1, final=True).text == ""
    assert fold("user_message_chunk", content="more", index=0, final=True).text == "more"
    assert fold("user_message_chunk", content="again").text == "again"
    assert fold.texts() == [("user", "hello"), ("user", "more"), ("user", "again")]


def test_title_and_kind_are_read_out_of_the_tool() -> None:
    """Draft: it has neither."""
    fold = folding_draft()
    cases: list[tuple[str, object, str, str]] = [
        ("fs/read_text_file", {"path": "/a"}, "fs/read_text_file /a", "read"),
        ("fs/write_text_file", {"path": 5}, "fs/write_text_file", "edit"),
        ("fs/delete", None, "fs/delete", "delete"),
        ("terminal/create", {"command": "make"}, "terminal/create make", "execute"),
        ("web/get", [], "web/get", "fetch"),
        ("grep", {}, "grep", "search"),
        ("dance", {}, "dance", "other"),
    ]
    for number, (tool, given, _, _) in enumerate(cases):
        fold("tool_call", id=str(number), tool=tool, input=given, status="pending")
    found = [(call.name, call.title, call.kind) for call in fold.transcript.tool_calls]
    assert found == [(tool, title, kind) for tool, _, title, kind in cases]


def test_the_words_of_the_draft_for_a_status_become_ours() -> None:
    """Draft: awaiting permission is pending, denied is final."""
    fold = folding_draft()
    fold("tool_call", id="c", tool="x", input={}, location={"path": "/a", "line": 2, "column": 3})
    call = fold.transcript.tool_calls[0]
    assert call.status == "pending"
    assert call.locations == [Location("/a", 2, 3)]
    for word, status in (
        ("awaiting_permission", "pending"),
        ("denied", "cancelled"),
        ("in_progress", "cancelled"),
    ):
        fold("tool_call_update", id="c", status=word)
        assert call.status == status


def test_what_only_the_draft_says_of_a_call_is_kept_beside_it() -> None:
    """The draft's table 5.1: under its own names; a word for a status while that is the status."""
    fold = folding_draft()
    place = {"path": "/a", "line": 2, "column": 3, "endLine": 4}
    fold("tool_call", id="c", tool="x", input={}, location=place, requiresPermission=True)
    call = fold.transcript.tool_calls[0]

    def kept() -> object:
        return to_python(call.meta[DRAFT])

    assert kept() == {"location": place, "requiresPermission": True}
    first = kept()
    assert isinstance(first, dict)
    fold("tool_call_update", id="c", status="awaiting_permission", meta_={DRAFT: 5})
    assert kept() == {**first, "status": "awaiting_permission"}
    fold("tool_call_update", id="c", duration=7)
    assert kept() == {**first, "status": "awaiting_permission", "duration": 7}
    fold("tool_call_update", id="c", status="in_progress")
    assert kept() == {**first, "duration": 7}
    fold("tool_call_update", id="c", status="denied")
    fold("tool_call_update", id="c", status="completed")
    assert kept() == {**first, "duration": 7, "status": "denied"}


def test_the_output_of_a_call_is_its_content() -> None:
    """Draft: one output, which a later one replaces; an error is text beside it."""
    fold = folding_draft()
    fold("tool_call_update", id="c", output={"type": "text", "text": "one"})
    call = fold.transcript.tool_calls[0]
    assert call.text == "one"
    fold("tool_call_update", id="c", output={"type": "text", "text": "two"}, error="but")
    assert call.text == "two\nbut"
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "content": "-a\n+b\n"}
    fold("tool_call_update", id="c", output={"type": "diff", "path": "/a", "hunks": [hunk]})
    assert call.diffs == [FileDiff("/a", patch="@@ -1,1 +1,1 @@\n-a\n+b\n")]
    fold("tool_call_update", id="c", output={"type": "_x"}, meta_={"k": 1})
    assert call.diffs == []
    assert fold.transcript.dump()["toolCalls"][0]["meta"] == {"k": 1}


def test_a_terminal_in_the_output_is_a_terminal_of_the_transcript() -> None:
    """Draft: it comes whole, running or ended."""
    fold = folding_draft()
    output: dict[str, object] = {"type": "terminal", "terminalId": "t", "command": "make"}
    fold("tool_call_update", id="c", output={**output, "stdout": "half"})
    terminal = fold.transcript.terminals[0]
    assert (terminal.command, terminal.text, terminal.exit_status) == ("make", "half", None)
    ended = {**output, "stdout": "all", "stderr": "!", "exitCode": 2}
    fold("tool_call_update", id="c", output=ended)
    assert (terminal.text, terminal.exit_status) == ("all!", ExitStatus(2))


def test_a_plan_has_steps() -> None:
    """Draft: replaced whole; no step has a priority."""
    fold = folding_draft()
    step = {"id": "1", "description": "do", "status": "skipped"}
    fold("plan", planId="p", steps=[step, step])
    update = fold("plan", planId="p", steps=[step])
    assert update.kind == "plan"
    assert fold.transcript.dump()["plans"][0]["entries"] == [
        {"content": "do", "priority": "medium", "status": "skipped"}
    ]


def test_commands_modes_and_options_follow_their_updates() -> None:
    """Draft: one option at a time, of any JSON value."""
    fold = folding_draft()
    fold("available_commands", commands=[{"name": "a", "description": "A"}])
    assert list(fold.transcript.commands) == [Command("a", "A")]
    fold("current_mode_update", previousMode="ask", currentMode="code")
    assert fold.transcript.modes.current == "code"
    fold("config_option_update", key="k", previousValue=1, currentValue=2, source="user")
    fold("config_option_update", key="b", currentValue=True)
    fold("config_option_update", key="k", currentValue=[3])
    assert list(fold.transcript.config_options) == [
        ConfigOption("k", "k", "unknown", value=[3]),
        ConfigOption("b", "b", "boolean", value=True),
    ]


def test_answers_tell_mode_and_options() -> None:
    """Draft."""
    fold = Folding(modes=["plan", "code"])
    loaded = {
        "sessionId": "s",
        "workingDirectory": "/w",
        "mode": "plan",
        "configOptions": {"k": 1},
        "messageCount": 0,
    }
    params = {"sessionId": "s", "cwd": "/w", "mcpServers": []}
    answer = fold.ask("session/load", params, loaded)
    fold.transcript.session_setup(decode(v1.LoadSessionResponse, encode(answer)))
    assert fold.transcript.modes.current == "plan"
    assert fold.options() == [ConfigOption("k", "k", "unknown", value=1)]
    change = {"sessionId": "s", "configId": "k", "value": "two"}
    answer = fold.ask("session/set_config_option", change, {"key": "k", "currentValue": "two"})
    fold.transcript.session_setup(decode(v1.SetSessionConfigOptionResponse, encode(answer)))
    assert fold.options() == [ConfigOption("k", "k", "unknown", value="two")]


def test_an_unknown_update_is_kept() -> None:
    """Ours."""
    fold = folding_draft()
    assert fold("_x", a=1).kind == "unknown"


def test_hunks_that_have_their_heads_already_keep_them() -> None:
    """Draft 8.4: its own example of a diff repeats the numbers in the content."""
    fold = folding_draft()
    numbers = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1}
    hunks = [
        {**numbers, "content": "@@ -1,1 +1,1 @@\n-a\n+b"},
        {**numbers, "content": "-c\n+d\n"},
    ]
    fold("tool_call_update", id="t", output={"type": "diff", "path": "/a", "hunks": hunks})
    head = "@@ -1,1 +1,1 @@\n"
    (call,) = fold.transcript.tool_calls
    assert call.diffs == [FileDiff("/a", patch=f"{head}-a\n+b\n{head}-c\n+d\n")]


def test_a_thought_that_is_not_for_the_user_is_kept_and_told_without_its_words() -> None:
    """Draft 7.4: `visible`; its block stays apart from those that may be shown."""
    fold = folding_draft()
    assert fold("thought_message_chunk", content="a", visible=False).text == ""
    assert fold("thought_message_chunk", content="b", visible=True).text == "b"
    (thought,) = fold.transcript.thoughts
    assert [text_of(block) for block in thought.blocks] == ["a", "b"]


def test_modes_and_options_of_the_agent_are_those_of_every_session() -> None:
    """Draft 10.1, 12.1: they are named in the capabilities; values come later."""
    fold = Folding(modes=["plan", "ask"], configOptions=["model", "fast", "deep"])
    transcript = fold.transcript
    assert [mode.name for mode in transcript.modes.available] == ["Plan", "Ask (questions only)"]
    assert transcript.modes.current == "plan"
    assert [one.category for one in transcript.config_options] == ["model", None, None]
    fold("config_option_update", key="fast", currentValue=True)
    found = {one.option_id: (one.type, one.value) for one in transcript.config_options}
    assert found == {
        "model": ("unknown", None),
        "fast": ("boolean", True),
        "deep": ("unknown", None),
    }
    assert Folding(modes=["a", "default"]).transcript.modes.current == "default"
    assert Folding().transcript.modes.current is None


def test_an_empty_chunk_begins_no_message() -> None:
    """Issue 14: the next piece begins it, and does not go on with the one before."""
    fold = folding_draft()
    fold("agent_message_chunk", content="first", index=0)
    fold("tool_call", id="c", tool="t", input={})
    assert fold.told("agent_message_chunk", content="", index=0) is None
    fold("agent_message_chunk", content="second", index=1, final=True)
    assert fold.told("agent_message_chunk", content="", index=0, final=True) is None
    assert fold.told("thought_message_chunk", content="", index=0) is None
    assert fold.texts() == [("agent", "first"), ("agent", "second")]
