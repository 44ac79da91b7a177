"""Conversations in line mode with a real agent: what is said is done, and everything is told."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from accord.client.permissions.permissions import Permissions
from accord.terminal.engine.chat_controller import ChatController
from tests.client.draft.draft_script import PROGRAM
from tests.terminal.plain.line_conversation import AGENT, spoken

EXAMPLES = Path(__file__).parents[3] / "examples"
V1 = (*AGENT, "v1")
LOCKED = (sys.executable, str(Path(__file__).parent / "locked_agent.py"))
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize("agent", [AGENT, V1])
async def test_a_permission_that_is_given_is_used(tmp_path: Path, agent: tuple[str, ...]) -> None:
    """Issue 6: why, what exactly, every option with its key."""
    said = await spoken(tmp_path, "write a.txt", "y", agent=agent)
    assert said.code == 0
    assert (tmp_path / "a.txt").read_text() == "new text\n"
    for words in ("+new text", "Why: because of the test", "y  Allow", "n  Reject", "(n)o y\n"):
        assert words in said.text
    assert "wrote=True" in said.text


@pytest.mark.parametrize("answer", ["n", "", "maybe"])
async def test_only_a_clear_yes_is_a_yes(tmp_path: Path, answer: str) -> None:
    """Issue 6: an empty answer is a no, and so is what nobody understands."""
    said = await spoken(tmp_path, "write a.txt", *[answer] * 5)
    assert not (tmp_path / "a.txt").exists()
    assert "wrote=False" in said.text
    assert "denied: you said no" in said.text


async def test_the_end_of_the_input_denies(tmp_path: Path) -> None:
    """Ours: a script that ends too early allows nothing."""
    said = await spoken(tmp_path, "run touch b.txt")
    assert not (tmp_path / "b.txt").exists()
    assert "(no answer)" in said.text
    # Issue 14: "you said no" is said only when a user said no.
    assert "denied: nothing allows it" in said.text


async def test_the_exact_command_and_what_would_be_remembered_are_shown(tmp_path: Path) -> None:
    """Issue 6: the exact command; `?` says what each key would mean."""
    said = await spoken(tmp_path, "run echo hello", "?", "f", "run echo hello", "/grants")
    assert "$ echo hello" in said.text
    assert "Why: to see it run" in said.text
    # The path of the folder decides where the line breaks.
    assert "always in this folder" in " ".join(said.text.split())
    assert "Accord remembers it." in said.text
    assert said.text.count("Allow it?") == 2, "asked once, and once more after the ?"
    assert said.text.count("exit=0") == 2
    assert "running exactly" in said.text


async def test_what_was_remembered_can_be_taken_back(tmp_path: Path) -> None:
    """Issue 6: a screen lists and revokes grants; here two commands do."""
    said = await spoken(
        tmp_path, "run echo hello", "f", "/grants", "/revoke 1", "run echo hello", "n", "/revoke 9"
    )
    assert "Revoked." in said.text
    assert said.text.count("Allow it?") == 2
    assert "Which one? /grants lists them" in said.text


async def test_a_denial_can_be_tried_again(tmp_path: Path) -> None:
    """Issue 6: a denial is explained and can be retried."""
    said = await spoken(tmp_path, "run echo hello", "n", "/retry", "/retry")
    assert "denied: you said no" in said.text
    assert "Please try again: echo hello. I allow it now." in said.text
    assert "Nothing to retry." in said.text


@pytest.mark.rule("V1-ELIC-05", "V1-ELIC-06")
async def test_a_form_is_filled_in_field_by_field(tmp_path: Path) -> None:
    """Issue 6: elicitation forms, with validation."""
    said = await spoken(
        tmp_path, "form", "", "Bob", "old", "36", "1", "", "e", "Ada", "", "", "", "y"
    )
    assert "liner asks you to fill in a form:" in said.text
    assert "Text [Bob]:" in said.text
    assert "This is required." in said.text
    assert "This must be a number." in said.text
    assert "Colour: red" in said.text
    assert (
        "form: accept [('age', 36), ('colour', 'red'), ('name', 'Ada'), ('sure', True)]"
        in " ".join(said.text.split())
    )


@pytest.mark.parametrize(
    ("lines", "action"),
    [(["/decline"], "decline"), (["/close"], "cancel"), (["Ada", "", "", "", "n"], "decline")],
)
async def test_a_form_can_be_declined_or_closed(
    tmp_path: Path, lines: list[str], action: str
) -> None:
    """Issue 6: three answers, told apart."""
    said = await spoken(tmp_path, "form", *lines)
    assert f"form: {action} []" in said.text


@pytest.mark.rule("V1-ELIC-05", "V1-ELIC-07", "V1-ELIC-08")
@pytest.mark.parametrize(("answer", "action"), [("y", "accept"), ("n", "decline"), ("", "cancel")])
async def test_a_page_is_shown_in_full_before_it_is_agreed_to(
    tmp_path: Path, answer: str, action: str
) -> None:
    """Issue 6: URLs with consent."""
    said = await spoken(tmp_path, "page", answer)
    assert "http://example.com/a" in said.text
    assert "The page is on example.com." in said.text
    assert "Careful: The connection is not encrypted." in said.text
    assert f"page: {action}" in said.text


async def test_an_agent_that_dies_is_told_of_and_ends_a_script(tmp_path: Path) -> None:
    """Issue 6: what happened, exit code and last words."""
    said = await spoken(tmp_path, "die", "more")
    assert said.code == 1
    assert "The agent stopped" in said.text
    assert "7" in said.text
    assert "the disk is on fire" in said.text
    assert "/restart to restart the agent" in said.text


async def test_an_agent_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    """Issue 6: it did not start."""
    said = await spoken(tmp_path, "hello", agent=("no-such-agent-anywhere",))
    assert said.code == 1
    assert "The agent could not be started" in said.text


async def test_a_failed_turn_says_why_and_a_rate_limit_when(tmp_path: Path) -> None:
    """Issue 6: a failed turn says why and offers retry; rate limits count down."""
    said = await spoken(tmp_path, "fail", "limit")
    assert said.code == 1
    assert "the model broke" in said.text
    assert "/retry to try again" in said.text
    assert "You can try again in 45 s: /retry." in said.text


@pytest.mark.rule("V1-PROMPT-15")
@pytest.mark.parametrize(
    ("reason", "words"), [("max_tokens", "the token limit"), ("refusal", "refused")]
)
async def test_a_turn_that_ends_early_says_why(tmp_path: Path, reason: str, words: str) -> None:
    """Issue 6: stop reasons."""
    said = await spoken(tmp_path, f"stop {reason}")
    assert said.code == 1
    assert words in said.text


@pytest.mark.rule("V1-AUTH-09")
async def test_a_login_that_is_wanted_later_is_offered(tmp_path: Path) -> None:
    """The rule: ready for errors of authentication in live sessions."""
    said = await spoken(tmp_path, "auth", "hello", agent=V1)
    assert "The agent requires a login: who are you?" in said.text
    assert "/login to log in" in said.text
    assert "echo: hello" in said.text


@pytest.mark.parametrize(("answer", "told"), [("1", "Model is Large."), ("", "who are you?")])
async def test_a_login_that_a_command_leads_to_can_be_answered(
    tmp_path: Path, answer: str, told: str
) -> None:
    """Issue 14: the command waited for the login, and the login for the end of the command."""
    said = await spoken(tmp_path, "/model large", answer, "/status", agent=LOCKED)
    assert "Which number?" in said.text
    assert told in said.text
    assert "is ready in" in said.text


async def test_unknown_things_are_shown(tmp_path: Path) -> None:
    """Issue 6: unknown kinds are shown generically, never dropped."""
    said = await spoken(tmp_path, "odd")
    assert "dance, unknown to this client" in said.text
    assert '"steps":3' in said.text.replace("\n", "")
    assert "danced" in said.text


async def test_nothing_that_an_agent_sends_commands_the_terminal(tmp_path: Path) -> None:
    """Issue 6: everything an agent sends is untrusted."""
    said = await spoken(tmp_path, "shout")
    assert not HARMFUL.search(said.text)
    assert "⟨U+001B⟩]0;shouted⟨U+0007⟩" in said.text
    assert "red" in said.text


async def test_thoughts_plans_and_usage_are_told_in_words(tmp_path: Path) -> None:
    """Issue 6: states in words for screen readers."""
    said = await spoken(tmp_path, "think", "plan", "usage")
    assert "(thinking)\ndeeply" in said.text
    assert "The plan has 2 steps:\n  1. first" in said.text
    assert "(context: 1.2k of 200k tokens (1 %), $0.25)" in said.text


async def test_modes_models_and_options_are_set_by_name_or_number(tmp_path: Path) -> None:
    """Issue 6: modes, models and config options."""
    said = await spoken(
        tmp_path, "/mode", "/mode free", "/model 2", "state", "/options", "/model huge"
    )
    assert "The mode is Ask first. Available modes:" in said.text
    assert "The mode is now Free hand." in said.text
    assert "mode=free model=large" in said.text
    assert "Model: Large one" in said.text
    assert "Unknown value 'huge'" in said.text


async def test_a_file_goes_along_and_a_long_line_goes_on(tmp_path: Path) -> None:
    """Issue 6: attachments; a backslash at the end goes on in the next line."""
    (tmp_path / "note.txt").write_text("words\n")
    said = await spoken(tmp_path, "/attach note.txt", "blocks", "one\\", "two", "/attach nothing")
    assert "note.txt will be sent with your next prompt." in said.text
    assert re.search("TextContent (EmbeddedResource|ResourceLink)", said.text)
    assert "echo: one\ntwo" in said.text
    assert "File not found: nothing" in said.text


async def test_changed_files_are_listed_shown_and_taken_back(tmp_path: Path) -> None:
    """Issue 6: files that the agent touches; undo for edits made through us."""
    (tmp_path / "a.txt").write_text("old text\n")
    said = await spoken(
        tmp_path, "write a.txt", "y", "/files", "/diff", "/undo-file a.txt", "/files", agent=V1
    )
    assert "a.txt: changed, 1 line added, 1 removed" in said.text
    assert "-old text" in said.text
    assert "a.txt: undone" in said.text
    assert (tmp_path / "a.txt").read_text() == "old text\n"


async def test_our_commands_are_listed_with_the_agents(tmp_path: Path) -> None:
    """Issue 6: advertised commands listed by /help."""
    built_in = (sys.executable, "-m", "accord", "agent", "--in-memory", "--model", "offline")
    said = await spoken(tmp_path, "/help", "/status", "/details", agent=built_in)
    assert "/restart" in said.text
    assert "/callers" in said.text
    assert "//help" in said.text, "theirs of the same name"
    assert "is ready in" in said.text
    assert "There are no tool calls yet." in said.text


async def test_what_a_tool_was_given_can_be_read(tmp_path: Path) -> None:
    """Issue 6: raw input on demand."""
    said = await spoken(tmp_path, "run echo hello", "y", "/details")
    assert "Run echo hello: done" in said.text


async def test_a_new_session_knows_nothing_and_the_talk_goes_on(tmp_path: Path) -> None:
    """Issue 6: sessions."""
    said = await spoken(tmp_path, "hello", "/new", "state", "/history")
    assert said.code == 0
    assert "Opened a new session" in said.text
    assert "mode=ask" in said.text


async def test_a_session_is_found_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: session list with search, resume."""
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "calc.py").write_text("def mean(values):\n    return 1\n")
    built_in = (sys.executable, "-m", "accord", "agent", "--model", "offline")
    await spoken(tmp_path, "where is mean", agent=built_in)
    said = await spoken(
        tmp_path,
        "/sessions nothing-like-it",
        "/sessions mean",
        "/resume 1",
        "hello",
        agent=built_in,
    )
    assert "No sessions found." in said.text
    assert "Earlier in this session:" in said.text
    assert "> (sent from elsewhere) where is mean" in said.text or "> where is mean" in said.text
    assert "The session continues here." in said.text


async def test_agents_of_every_kind_can_be_talked_to(tmp_path: Path) -> None:
    """Issue 6: any ACP agent; examples, and one of the 2026-02 draft."""
    hello = await spoken(tmp_path, "hi", agent=(sys.executable, str(EXAMPLES / "hello_agent.py")))
    assert (hello.code, "hi" in hello.text) == (0, True)
    stream = await spoken(tmp_path, "20", agent=(sys.executable, str(EXAMPLES / "stream_agent.py")))
    assert stream.code == 0
    drafty = await spoken(tmp_path, "hello", "write b.txt words", "y", agent=PROGRAM)
    assert drafty.code == 0
    assert (tmp_path / "b.txt").read_text() == "words"


async def test_a_rule_that_says_no_is_told_as_such(tmp_path: Path) -> None:
    """Issue 6: a denied call is told apart, and by whom it was denied."""
    controller = ChatController(permissions=Permissions(otherwise="reject"))
    said = await spoken(tmp_path, "run echo hello", controller=controller)
    assert "denied: nothing allows it" in said.text
    assert "Allow it?" not in said.text
