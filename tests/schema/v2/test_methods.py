"""The tables of v2: methods, words and exports."""

import pytest

from accord.schema import v2
from accord.schema.v2 import enumeration_openness as v2_enumerations
from accord.schema.v2 import methods as v2_methods

BASELINE = ["new", "list", "resume", "close", "prompt", "cancel"]


def test_the_baseline_of_sessions_has_one_gate() -> None:
    """V2-INIT-10: `session` present means all of them, absent none."""
    for name in BASELINE:
        assert v2_methods.AGENT_METHODS[f"session/{name}"].gate == "session"
    assert v2_methods.AGENT_METHODS["session/delete"].gate == "session.delete"


def test_login_and_logout_are_gated_by_the_list_of_methods() -> None:
    """V2-AUTH-01: there is no marker for either."""
    gates = {v2_methods.AGENT_METHODS[name].gate for name in ("auth/login", "auth/logout")}
    assert gates == {"authMethods"}


def test_entities_carry_the_gate_of_their_own_cancelling() -> None:
    """V2-CANCEL-16: not the agent's capabilities."""
    assert v2_methods.AGENT_METHODS["tool_call/cancel"].gate == "toolCall.cancel"
    assert v2_methods.AGENT_METHODS["terminal/cancel"].gate == "terminal.cancel"


def test_either_side_handles_cancelling_of_requests() -> None:
    """The schema: `$/cancel_request` is the protocol's own."""
    for rows in (v2_methods.AGENT_METHODS, v2_methods.CLIENT_METHODS):
        assert rows["$/cancel_request"].params is v2.CancelRequestNotification


@pytest.mark.parametrize(
    "name",
    ["authenticate", "session/load", "session/set_mode", "fs/read_text_file", "terminal/create"],
)
def test_methods_of_v1_are_gone(name: str) -> None:
    """V2-GEN-04: nothing of the other version on a connection."""
    assert name not in v2_methods.AGENT_METHODS
    assert name not in v2_methods.CLIENT_METHODS


def test_rows_agree_with_their_types() -> None:
    """Ours: a request has a result, a notification none, unstable rows have unstable types."""
    for rows, side in [
        (v2_methods.AGENT_METHODS, "agent"),
        (v2_methods.CLIENT_METHODS, "client"),
        (v2_methods.PROXY_METHODS, "proxy"),
        (v2_methods.PROXY_NOTIFICATIONS, "proxy"),
    ]:
        for name, row in rows.items():
            assert row.name == name
            assert row.side == side
            assert (row.result is None) == (row.kind == "notification")
            assert getattr(row.params, "__unstable__", False) == row.unstable


def test_all_words_are_open_but_one() -> None:
    """The schema: only the type of a form is closed."""
    assert [name for name, words in v2_enumerations.ENUMS.items() if not words.open] == [
        "ElicitationSchemaType"
    ]
    assert v2_enumerations.ENUMS["ToolCallStatus"].values == (
        "pending",
        "in_progress",
        "paused",
        "completed",
        "failed",
        "cancelled",
    )


def test_every_name_of_the_modules_is_exported_once() -> None:
    """Ours: one place to import from."""
    assert len(v2.__all__) == len(set(v2.__all__))
    for name in v2.__all__:
        assert getattr(v2, name) is not None
