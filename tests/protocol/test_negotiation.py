"""Negotiation, row by row: what an agent makes of a request and a client of an answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.protocol.negotiation import (
    Chosen,
    Initialization,
    Refused,
    asked_version,
    in_v1_keys,
    judge_answer,
    judge_request,
    looks_like_draft,
    may_be_draft,
)

INFO = {"name": "editor", "version": "1"}
BOTH = frozenset({1, 2})


def judged(params: dict[str, Any], served: frozenset[int] = BOTH) -> tuple[str, int]:
    """The dialect and number that were chosen."""
    chosen = judge_request(params, served)
    assert isinstance(chosen, Chosen), chosen
    return chosen.dialect, chosen.version


# ---- the request, rows 1 to 6


@pytest.mark.parametrize(
    "version", ["1", 1.0, 1.5, None, True, False, [1], {}, -1, 65536, 2**70, "2025-01-01"]
)
def test_row_1_a_version_that_is_no_number_in_range_is_refused(version: object) -> None:
    """dialect 1.1 row 1: -32602 with the path, and no dialect."""
    refused = judge_request({"protocolVersion": version, "info": INFO}, BOTH)
    assert isinstance(refused, Refused)
    assert refused.code == -32602
    assert refused.data is not None
    assert refused.data["path"] == "$.protocolVersion"
    assert refused.data["reason"]


def test_row_1_a_missing_version_is_refused() -> None:
    """dialect 1.1 row 1."""
    refused = judge_request({"clientCapabilities": {}}, BOTH)
    assert isinstance(refused, Refused)
    assert refused.code == -32602
    assert refused.data == {"path": "$.protocolVersion", "reason": "missing required key"}


@pytest.mark.parametrize("version", [2, 3, 9, 65535])
def test_row_2_info_at_version_2_or_above_means_v2(version: int) -> None:
    """dialect 1.1 row 2; keys of other versions beside it change nothing."""
    assert judged({"protocolVersion": version, "info": INFO}) == ("v2", 2)
    mixed = {"protocolVersion": version, "info": INFO, "clientCapabilities": {}, "capabilities": {}}
    assert judged(mixed) == ("v2", 2)


def test_row_3_version_2_without_info_is_refused() -> None:
    """dialect 1.1 row 3."""
    refused = judge_request({"protocolVersion": 2, "clientCapabilities": {}}, BOTH)
    assert isinstance(refused, Refused)
    assert refused.code == -32602
    assert refused.data == {"path": "$.info", "reason": "missing required key"}


def test_row_3_info_that_is_no_object_is_named_as_such() -> None:
    """Ours: the reason says what is wrong, not that a key which is there were missing."""
    refused = judge_request({"protocolVersion": 2, "info": "editor 1"}, BOTH)
    assert isinstance(refused, Refused)
    assert refused.data == {"path": "$.info", "reason": "Expected `object`"}


@pytest.mark.parametrize("params", [{}, {"info": 5}, {"clientCapabilities": {}}])
def test_row_3a_a_newer_version_without_info_is_v2_of_an_unknown_client(
    params: dict[str, Any],
) -> None:
    """dialect 1.1 row 3a."""
    chosen = judge_request({"protocolVersion": 3, **params}, BOTH)
    assert isinstance(chosen, Chosen)
    assert (chosen.dialect, chosen.version) == ("v2", 2)
    assert len(chosen.notes) == 1


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("more", [{}, {"capabilities": {"ui": {}}}, {"info": INFO}])
def test_row_4_client_capabilities_mean_v1(version: int, more: dict[str, Any]) -> None:
    """dialect 1.1 row 4."""
    params = {"protocolVersion": version, "clientCapabilities": {}, **more}
    assert judged(params) == ("v1", 1)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    "capabilities",
    [{}, {"fs": {"read": True, "write": True}}, {"terminal": {"create": True}}, {"ui": {}}],
)
def test_row_5_capabilities_alone_mean_the_draft(
    version: int, capabilities: dict[str, Any]
) -> None:
    """dialect 1.1 row 5."""
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": INFO}
    assert judged(params) == ("draft", 1)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("more", [{}, {"capabilities": {}}, {"capabilities": {"fs": {"read": 1}}}])
def test_row_5a_info_means_a_client_of_v2_that_asks_for_v1(
    version: int, more: dict[str, Any]
) -> None:
    """dialect 1.1 row 5a: the draft has no `info`."""
    params = {"protocolVersion": version, "info": INFO, **more}
    assert judged(params) == ("v1", 1)
    moved = in_v1_keys(params)
    assert moved["clientInfo"] == INFO
    assert moved.get("clientCapabilities") == more.get("capabilities")


@pytest.mark.parametrize(
    "params",
    [
        {"protocolVersion": 1, "clientCapabilities": {}, "capabilities": {"x": 1}, "info": INFO},
        {"protocolVersion": 1, "info": "editor 1", "capabilities": [1]},
        {"protocolVersion": 2, "info": INFO, "capabilities": {}},
        {"protocolVersion": "1", "info": INFO, "capabilities": {}},
    ],
)
def test_keys_are_moved_for_version_1_alone_and_never_over_v1s(params: dict[str, Any]) -> None:
    """dialect 1.1 rows 4 and 6, and what an endpoint without v2 does with newer versions."""
    assert in_v1_keys(params) == params


@pytest.mark.parametrize(
    "capabilities",
    [
        {"fs": {"readTextFile": True}},
        {"fs": {"writeTextFile": False}},
        {"terminal": True},
        {"terminal": False, "ui": {}},
    ],
)
def test_row_5_names_of_v1_under_the_drafts_key_are_v1(capabilities: dict[str, Any]) -> None:
    """dialect 1.1, below the table: such a peer mixed the names."""
    chosen = judge_request({"protocolVersion": 1, "capabilities": capabilities}, BOTH)
    assert isinstance(chosen, Chosen)
    assert (chosen.dialect, len(chosen.notes)) == ("v1", 1)


@pytest.mark.parametrize("more", [{}, {"capabilities": None}, {"capabilities": [1]}])
def test_row_6_neither_key_means_v1_without_capabilities(more: dict[str, Any]) -> None:
    """dialect 1.1 row 6; capabilities that are not an object count as none."""
    assert judged({"protocolVersion": 1, **more}) == ("v1", 1)


@pytest.mark.parametrize(
    "params",
    [
        {"info": INFO, "capabilities": {}},
        {"info": INFO, "capabilities": {"ui": {}}, "clientCapabilities": {}},
        {},
    ],
)
@pytest.mark.parametrize("version", [2, 99])
def test_an_agent_without_v2_answers_1_to_whatever_is_newer(
    version: int, params: dict[str, Any]
) -> None:
    """dialect 1.1: rows 2 to 3a do not hold there, and row 5 is for version 1 and 0 only."""
    assert judged({"protocolVersion": version, **params}, frozenset({1})) == ("v1", 1)


@pytest.mark.parametrize("version", [0, 1])
def test_an_agent_without_v1_refuses_older_versions(version: int) -> None:
    """-32022 names what was asked and what there is."""
    refused = judge_request({"protocolVersion": version}, frozenset({2}))
    assert isinstance(refused, Refused)
    assert refused.code == -32022
    assert refused.data == {"requested": version, "supported": [2]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["fs", "terminal", "name"]), inner, max_size=2)
    ),
    max_leaves=5,
)
KEYS = ("protocolVersion", "info", "capabilities", "clientCapabilities", "agentInfo")
PARAMS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("protocolVersion", "info", "capabilities", "clientCapabilities", "agentInfo"), JSON
    ),
)


@given(PARAMS, st.sampled_from([frozenset({1}), frozenset({2}), BOTH]))
def test_every_request_and_every_answer_gets_a_verdict(
    params: dict[str, Any], served: frozenset[int]
) -> None:
    """Ours: nothing is guessed at and nothing raises."""
    for verdict in (judge_request(params, served), judge_answer(params, served)):
        assert isinstance(verdict, Chosen | Refused)
        if isinstance(asked_version(params), Refused):
            assert isinstance(verdict, Refused)


# ---- the answer


@pytest.mark.parametrize(
    ("result", "dialect"),
    [
        ({"protocolVersion": 2, "info": INFO}, "v2"),
        ({"protocolVersion": 2, "info": INFO, "agentCapabilities": {}}, "v2"),
        ({"protocolVersion": 1, "agentCapabilities": {}}, "v1"),
        ({"protocolVersion": 1, "agentCapabilities": {}, "capabilities": {}}, "v1"),
        ({"protocolVersion": 1, "capabilities": {}, "agentInfo": INFO}, "draft"),
        ({"protocolVersion": 1}, "v1"),
        ({"protocolVersion": 1, "agentInfo": INFO, "authMethods": []}, "v1"),
        ({"protocolVersion": 1, "capabilities": {}}, "v1"),
    ],
)
def test_an_answer_is_judged_by_its_shape(result: dict[str, Any], dialect: str) -> None:
    """dialect 1.2, from the top."""
    chosen = judge_answer(result, BOTH)
    assert isinstance(chosen, Chosen)
    assert (chosen.dialect, chosen.version) == (dialect, 2 if dialect == "v2" else 1)
    assert chosen.notes == ()


@pytest.mark.parametrize(
    ("result", "dialect"),
    [
        ({"protocolVersion": 2, "agentCapabilities": {}}, "v1"),
        ({"protocolVersion": 2, "capabilities": {}, "agentInfo": INFO}, "draft"),
        ({"protocolVersion": 2}, "v1"),
        ({"protocolVersion": 1, "info": INFO}, "v2"),
    ],
)
def test_where_number_and_shape_disagree_the_shape_wins(
    result: dict[str, Any], dialect: str
) -> None:
    """dialect 1.2: an agent may simply echo the number; it is noted."""
    chosen = judge_answer(result, BOTH)
    assert isinstance(chosen, Chosen)
    assert chosen.dialect == dialect
    assert len(chosen.notes) == 1


@pytest.mark.parametrize("version", [0, 3, 42, 65535])
def test_an_answer_with_another_version_is_unsupported(version: int) -> None:
    """V1-INIT-08, V2-INIT-04: whatever its shape."""
    refused = judge_answer({"protocolVersion": version, "info": INFO}, BOTH)
    assert isinstance(refused, Refused)
    assert refused.code == -32022
    assert refused.data == {"requested": 2, "supported": [version]}


@pytest.mark.parametrize("result", [{}, {"protocolVersion": "1"}, {"protocolVersion": 2**20}])
def test_an_answer_without_a_version_is_refused(result: dict[str, Any]) -> None:
    """Ours: never guessed."""
    refused = judge_answer(result, BOTH)
    assert isinstance(refused, Refused)
    assert refused.code == -32600


@pytest.mark.parametrize(
    ("spoken", "result"),
    [
        (frozenset({1}), {"protocolVersion": 2, "info": INFO}),
        (frozenset({2}), {"protocolVersion": 1, "agentCapabilities": {}}),
    ],
)
def test_an_answer_in_a_version_the_client_was_told_not_to_speak_is_refused(
    spoken: frozenset[int], result: dict[str, Any]
) -> None:
    """Ours."""
    refused = judge_answer(result, spoken)
    assert isinstance(refused, Refused)
    assert refused.code == -32022


# ---- what may come when


def test_nothing_is_admitted_before_initialize() -> None:
    """V1 and v2: -32600, and the connection goes on."""
    gate = Initialization()
    refused = gate.admit("session/new")
    assert refused is not None
    assert refused.code == -32600
    assert "session/new" in refused.message
    assert gate.chosen is None
    assert gate.admit_initialize(Chosen("v1", 1)) is None
    assert gate.admit("session/new") is None


def test_initialize_may_be_repeated_until_something_else_was_asked() -> None:
    """The latest one that succeeded counts; its version stays."""
    gate = Initialization()
    first, second = Chosen("v2", 2), Chosen("v2", 2, ("again",))
    assert gate.admit_initialize(first) is None
    assert gate.admit_initialize(second) is None
    assert gate.chosen is second
    lower = gate.admit_initialize(Chosen("v1", 1))
    assert lower is not None
    assert lower.code == -32600
    assert gate.chosen is second
    assert gate.admit("session/list") is None
    late = gate.admit_initialize(first)
    assert late is not None
    assert late.code == -32600
    assert gate.chosen is second


# ---- late fingerprints


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/new", {"workingDirectory": "/w"}),
        ("session/prompt", {"sessionId": "s", "content": []}),
        ("session/set_mode", {"sessionId": "s", "mode": "plan"}),
        ("session/set_config_option", {"sessionId": "s", "key": "k", "value": 1}),
        ("session/request_permission", {"sessionId": "s", "operation": "file_read"}),
        ("authenticate", {"method": "api_key", "credentials": {}}),
    ],
)
def test_a_request_of_the_draft_shows_itself(method: str, params: dict[str, Any]) -> None:
    """dialect 1.3: by a key that only the draft has."""
    assert may_be_draft(method)
    assert looks_like_draft(method, params)
    assert not looks_like_draft(method, {})
    assert not looks_like_draft(method, [params])


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/new", {"cwd": "/w", "workingDirectory": "/w"}),
        ("session/prompt", {"prompt": [], "content": []}),
        ("session/load", {"sessionId": "s"}),
        ("session/list", {"workingDirectory": "/w"}),
    ],
)
def test_an_official_request_does_not(method: str, params: dict[str, Any]) -> None:
    """dialect 1.3: what both have, or has the official key too, shows nothing."""
    assert not looks_like_draft(method, params)
    assert may_be_draft(method) == (method in ("session/new", "session/prompt"))


def test_the_draft_can_show_itself_only_before_other_traffic() -> None:
    """dialect 1.3: the choice is then fixed for the connection."""
    started = Initialization()
    started.admit_initialize(Chosen("v1", 1))
    assert started.is_undecided
    started.is_draft_after_all()
    assert started.chosen == Chosen("draft", 1)
    refused = started.forbids(Chosen("v1", 1))
    assert refused is not None
    assert not Initialization().is_undecided
    begun = Initialization()
    begun.admit_initialize(Chosen("v1", 1))
    assert begun.admit("session/new") is None
    assert not begun.is_undecided
    second = Initialization()
    second.admit_initialize(Chosen("v2", 2))
    assert not second.is_undecided


@pytest.mark.parametrize(("first", "then"), [("v1", "draft"), ("draft", "v1")])
def test_a_repeated_initialize_keeps_the_dialect(first: Any, then: Any) -> None:
    """Issue 5, bad input: who changes its dialect gets -32602, before and after other traffic."""
    initialization = Initialization()
    initialization.admit_initialize(Chosen(first, 1))
    refused = initialization.forbids(Chosen(then, 1))
    assert refused is not None
    assert refused.code == -32602
    initialization.admit("session/new")
    refused = initialization.forbids(Chosen(then, 1))
    assert refused is not None
    assert refused.code == -32602
