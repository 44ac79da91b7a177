"""Operations, options and grants of the draft."""

from typing import Any

import pytest

from accord.schema.draft.enumeration_openness import ENUMS
from accord.translate.draft import permission_options


def test_operations_and_kinds() -> None:
    """The draft's table 4.1."""
    assert set(permission_options.OPERATION_KINDS) == set(ENUMS["PermissionOperation"].values)
    for operation in permission_options.OPERATION_KINDS:
        assert (
            permission_options.operation_of_kind(permission_options.kind_of_operation(operation))
            == operation
        )
    assert permission_options.operation_of_kind("move") == "file_write"
    assert permission_options.operation_of_kind("search") == "file_read"
    assert permission_options.operation_of_kind("think") == "mcp_tool"
    assert permission_options.operation_of_kind("made up") == "mcp_tool"
    assert permission_options.kind_of_operation("made up") == "other"


def test_an_agent_that_says_a_kind_means_its_operation() -> None:
    """Issue 12: a rule that rejects `execute` was passed by the operation `execute`."""
    assert permission_options.known_operation("execute") == "terminal_execute"
    assert permission_options.known_operation("edit") == "file_write"
    for operation in (*permission_options.OPERATION_KINDS, "think", "made up"):
        assert permission_options.known_operation(operation) == operation


GRANTS = [
    ("once", {"granted": True, "scope": "once", "remember": False}),
    ("session", {"granted": True, "scope": "session", "remember": True}),
    ("workspace", {"granted": True, "scope": "workspace", "remember": True}),
    ("always", {"granted": True, "scope": "always", "remember": True}),
    ("deny", {"granted": False, "remember": False}),
    ("deny_always", {"granted": False, "remember": True}),
    (None, {"granted": False}),
    ("nobody offered this", {"granted": False}),
]


@pytest.mark.rule("D26-10")
@pytest.mark.parametrize(("option", "grant"), GRANTS)
def test_what_an_option_grants(option: str | None, grant: dict[str, Any]) -> None:
    """The draft's table 4.1."""
    assert permission_options.grant_of(option) == grant


ALL = [("a1", "allow_once"), ("aa", "allow_always"), ("r1", "reject_once"), ("ra", "reject_always")]


@pytest.mark.parametrize(
    ("granted", "scope", "remember", "chosen"),
    [
        (True, "once", False, "a1"),
        (True, None, False, "a1"),
        (True, None, True, "aa"),
        (True, "once", True, "aa"),
        (True, "session", False, "aa"),
        (True, "workspace", False, "aa"),
        (True, "always", True, "aa"),
        (False, None, False, "r1"),
        (False, None, True, "ra"),
    ],
)
def test_the_option_that_says_what_the_user_said(
    granted: bool, scope: str | None, remember: bool, chosen: str
) -> None:
    """The draft's table 4.1."""
    assert permission_options.choose_option(granted, scope, remember, ALL) == chosen


def test_a_missing_option_falls_back_and_never_turns_a_no_into_a_yes() -> None:
    """The draft's table 4.1."""
    assert permission_options.choose_option(True, "always", True, ALL[:1]) == "a1"
    assert permission_options.choose_option(False, None, True, ALL[2:3]) == "r1"
    assert permission_options.choose_option(True, "once", False, ALL[1:]) is None
    assert permission_options.choose_option(False, None, False, ALL[:2]) is None
