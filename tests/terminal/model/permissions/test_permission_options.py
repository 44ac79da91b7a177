"""The answers to a permission request, and that none is more than was offered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.request import (
    CANCELLED,
    OWN_OPTIONS,
    Decision,
    PermissionOption,
    own_request,
)
from accord.client.permissions.rules import Rule
from accord.client.wire.draft.permission_requests import OPTIONS as DRAFT_OPTIONS
from accord.terminal.model.permissions.permission_options import choices_of, closing
from accord.terminal.plain.dialogs.question_dialogs import keyed_choices, question_words
from tests.terminal.screen.harness.question_stage import FOLDER, a_request, option

PLAIN = (option("yes", "allow_once"), option("no", "reject_once"))


def words(**more: object) -> list[str]:
    """Keys and words of all answers."""
    return [f"{one.keys[-1]} {one.words}" for one in choices_of(a_request(**more), FOLDER)]


def test_what_lasts_is_ours_where_the_agent_offers_nothing() -> None:
    """Issue 12: each says in words what is covered and for how long."""
    assert words(options=PLAIN) == [
        "y yes",
        "s Allow changing src/app.py for this session",
        "f Always allow changing src/app.py in this folder",
        "n no",
        "v Always reject changing src/app.py in this folder",
    ]


def test_what_the_agent_offers_takes_the_place_of_ours_in_its_own_words() -> None:
    """Issue 12: our scopes and the agent's options are never combined."""
    wide = PermissionOption("all", "Allow every edit", "allow_always")
    options = (*OWN_OPTIONS[:2], wide, *OWN_OPTIONS[2:])
    assert words(options=options) == [
        "y Allow once",
        "f Always allow changing src/app.py in this folder",
        "a Always allow",
        "4 Allow every edit",
        "n Reject",
        "v Always reject",
    ]
    lasting = [one for one in choices_of(a_request(options=options), FOLDER) if one.letter in "av"]
    assert {one.remark for one in lasting} == {"the agent remembers"}
    assert {one.decision.scope for one in lasting} == {"once"}


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("allow_once", "Yes, and don't ask again", "Yes, and don't ask again"),
        ("allow_once", "Proceed", "Proceed"),
        ("allow_once", "No, cancel", "Allow: “No, cancel”"),
        ("allow_once", "Reject", "Allow: “Reject”"),
        ("allow_once", "Do not allow", "Allow: “Do not allow”"),
        ("allow_once", "Weiter", "Allow: “Weiter”"),
        ("reject_once", "No, and tell the agent what to do", "No, and tell the agent what to do"),
        ("reject_once", "Allow", "Reject: “Allow”"),
        ("reject_once", "Weiter", "Reject: “Weiter”"),
        ("allow_always", "Reject", "Allow: “Reject”"),
        ("reject_always", "Yes", "Reject: “Yes”"),
    ],
)
def test_a_name_that_does_not_say_what_it_does_is_told_that_first(
    kind: str, name: str, expected: str
) -> None:
    """Issue 12: each line is true; the agent chooses the names."""
    offered = (PermissionOption("x", name, kind),)
    [found] = [
        one for one in choices_of(a_request(options=offered), FOLDER) if one.remark[:6] != "Accord"
    ]
    assert found.words == expected


def test_the_draft_has_the_same_few() -> None:
    """Issue 12: its scopes are ours."""
    keys = [choice.keys for choice in choices_of(a_request(options=DRAFT_OPTIONS), FOLDER)]
    assert keys == [("1", "y"), ("2", "s"), ("3", "f"), ("4", "n"), ("5", "v")]


@pytest.mark.parametrize(
    ("kind", "more", "every", "rule"),
    [
        ("execute", {"command": "make"}, "every command", Rule(effect="allow", kind="execute")),
        (
            "edit",
            {"paths": (f"{FOLDER}/a",)},
            "every edit in this folder",
            Rule(effect="allow", kind="edit"),
        ),
    ],
)
def test_where_we_ask_a_wider_answer_is_one_of_its_own(
    kind: str, more: dict[str, object], every: str, rule: Rule
) -> None:
    """Issue 12: and it is named so."""
    origin = "terminal" if kind == "execute" else "write"
    request = own_request("s", "It", kind, origin, **more)  # type: ignore[arg-type]
    choices = {one.letter: one for one in choices_of(request, FOLDER)}
    assert list(choices) == ["y", "s", "f", "e", "n", "v"]
    assert choices["e"].words == f"Allow {every} for this session"
    assert choices["e"].decision == Decision("allow_once", "session", rule)


def test_long_subjects_are_named_by_their_kind() -> None:
    """Issue 12: the end of an answer, which says how long, stays in view."""
    run = {"paths": (), "kind": "execute", "options": PLAIN, "cwd": FOLDER}
    assert words(**run, command="make test")[1] == "s Allow `make test` for this session"
    assert words(**run, command="x" * 90)[1] == "s Allow this exact command for this session"
    below = {**run, "cwd": f"{FOLDER}/src"}
    assert words(**below, command="make")[1] == "s Allow `make` in src for this session"
    many = tuple(f"{FOLDER}/{name}" for name in "abcde")
    assert words(paths=many, options=PLAIN)[1] == "s Allow changing these 5 files for this session"
    tool = {"paths": (), "mcp_tool": "db/query", "options": PLAIN}
    assert words(**tool)[1] == "s Allow the tool db/query for this session"


def test_what_is_covered_is_said_exactly() -> None:
    """Brief: the rule in words: kind, path, command, MCP tool; and who remembers."""

    def covers(letter: str, **more: object) -> str:
        request = a_request(options=PLAIN, **more)
        return next(one.covers for one in choices_of(request, FOLDER) if one.letter == letter)

    assert covers("y") == "Nothing is remembered."
    assert covers("s") == (
        "Allows changing src/app.py: until this session ends. Accord remembers it."
    )
    assert covers("v").startswith("Rejects changing src/app.py: always in this folder.")
    run = {"paths": (), "kind": "execute", "command": "make test", "cwd": FOLDER}
    assert covers("f", **run) == (
        f"Allows running exactly `make test` in {FOLDER}: always in this folder."
        " Accord remembers it."
    )
    assert "; 2 more" in covers("s", paths=tuple(f"{FOLDER}/{name}" for name in "abcde"))


def test_what_cannot_be_remembered_is_not_offered_for_longer() -> None:
    """Issue 12: no answer says more than what is stored."""
    assert words(paths=(), mcp_tool="odd", options=PLAIN) == ["y yes", "n no"]
    # What is allowed by several ways is not ours to choose among.
    several = (option("a", "allow_once"), option("b", "allow_once"))
    assert words(options=several) == ["1 Allow: “a”", "2 Allow: “b”"]


def test_the_question_names_the_keys() -> None:
    """Issue 12: the line mode and `accord run --ask` offer the same few."""
    choices = keyed_choices(a_request(options=PLAIN), FOLDER)
    assert question_words(choices) == "Allow it? (y)es (s)ession (f)older ne(v)er (n)o"


_KINDS = st.sampled_from(["allow_once", "allow_always", "reject_once", "reject_always", "_odd"])
_SCOPES = st.sampled_from([None, "session", "workspace", "always"])
_OPTIONS = st.lists(
    st.builds(PermissionOption, st.sampled_from("abcdefgh"), st.just("x"), _KINDS, _SCOPES),
    max_size=12,
).map(tuple)


@given(_OPTIONS)
def test_every_answer_was_offered_and_closing_never_allows(
    options: tuple[PermissionOption, ...],
) -> None:
    """Property: for arbitrary options; what the agent offers for once or for itself is there."""
    request = a_request(options=options)
    closed = request.option(closing(request).option_id or "")
    assert closed is None or closed.kind == "reject_once"
    choices = choices_of(request, FOLDER)
    keys = [key for choice in choices for key in choice.keys]
    assert len(keys) == len(set(keys))
    for choice in choices:
        chosen = request.option(choice.decision.option_id or "")
        if not choice.is_usable:
            assert choice.decision == CANCELLED
            assert choice.keys == ()
            continue
        assert chosen is not None
        assert choice.tone == (
            "allow" if chosen.allows else "reject" if chosen.rejects else "other"
        )
        # A scope of ours is never laid upon a lasting option.
        assert choice.decision.scope == "once" or chosen.kind in ("allow_once", "reject_once")
    offered = {choice.decision.option_id for choice in choices}
    for one in request.usable_options:
        assert one.option_id in offered or one.scope is not None
