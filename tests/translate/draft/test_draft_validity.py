"""Whatever is said in whatever order, each side gets what is valid in its version, and an answer.

Towards v1 the judges are our schema to the letter and the official one, towards the draft our
schema to the letter.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from accord.translate.message import AGENT, CLIENT
from tests.translate.draft.generated_messages import SESSIONS, Talk, official_check
from tests.translate.draft.open_sessions import Before, Behind, before, behind
from tests.translate.draft.scripted_peers import check_steps

OF_CLIENT = [
    "session/new",
    "session/load",
    "session/set_mode",
    "session/set_config_option",
    "session/prompt",
    "session/prompt",
    "authenticate",
]
OF_AGENT = [
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
]
STEPS = st.sampled_from(
    [
        "client",
        "agent",
        "agent",
        "update",
        "update",
        "update",
        "answer",
        "answer",
        "answer",
        "answer",
        "cancel",
        "wait",
        "push",
    ]
)


def _talk(talk: Talk, steps: list[str], clients: list[str], agents: list[str]) -> None:
    wire, draw = talk.wire, talk.draw
    for step in steps:
        if step == "client":
            talk.request(CLIENT, draw(st.sampled_from(clients)))
        elif step == "agent":
            talk.request(AGENT, draw(st.sampled_from(agents)))
        elif step == "update":
            talk.update()
        elif step == "answer":
            talk.answer()
        elif step == "cancel":
            wire.tell(CLIENT, "session/cancel", {"sessionId": draw(SESSIONS)})
        elif step == "wait":
            wire.wait(draw(st.sampled_from([0.01, 0.2, 30.0])))
        elif talk.draft_side is CLIENT:
            talk.request(CLIENT, "terminal/output")
    wire.agent_dies()
    assert [side for side, _ in wire.open if side is CLIENT] == []


@settings(max_examples=40)
@given(st.data(), st.lists(STEPS, max_size=16), st.booleans())
def test_a_draft_agent_and_a_v1_client_are_told_nothing_invalid(
    data: Any, steps: list[str], unstable: bool
) -> None:
    """Issue 5: the other side is never sent something invalid."""
    scene = behind(unstable=unstable, check=official_check)
    scene.clock.files = {"/": "a\nb\n", "/home/me/ü": "c"}
    talk = Talk(data.draw, scene.wire, AGENT)
    _talk(talk, steps, [*OF_CLIENT, "session/close"], OF_AGENT)


@settings(max_examples=40)
@given(st.data(), st.lists(STEPS, max_size=16), st.booleans())
def test_a_draft_client_and_a_v1_agent_are_told_nothing_invalid(
    data: Any, steps: list[str], unstable: bool
) -> None:
    """Issue 5: the other side is never sent something invalid."""
    scene = before(unstable=unstable, check=official_check)
    talk = Talk(data.draw, scene.wire, CLIENT)
    _talk(talk, steps, OF_CLIENT, [*OF_AGENT, "terminal/output"])
    check_steps(scene.wire.take())


@settings(max_examples=25)
@given(st.data(), st.sampled_from([Behind, Before]), st.booleans())
def test_beginnings_of_all_kinds_are_valid(
    data: Any, kind: type[Behind | Before], unstable: bool
) -> None:
    """Issue 5: the other side is never sent something invalid."""
    scene = kind(unstable=unstable, check=official_check)
    talk = Talk(data.draw, scene.wire, AGENT if kind is Behind else CLIENT)
    for method in ("initialize", "session/new", "session/load", "session/prompt"):
        talk.request(CLIENT, method)
        talk.answer()
        talk.answer()
    scene.wire.agent_dies()
    assert [side for side, _ in scene.wire.open if side is CLIENT] == []
