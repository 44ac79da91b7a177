"""Checks of open requests of a v2 agent and its client: their ids and number."""

from __future__ import annotations

import anyio

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.agent.fake_client import always
from accord.conformance.agent.turn import ASKING, asked_to_edit
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.open_requests import (
    OPEN_REQUESTS_MAX,
    refuse_beyond_the_limit,
)
from accord.conformance.checks.agent.v2.sessions import FINAL
from accord.conformance.frames.raw_peer import Frame, Message, Reply, Unanswered, same

# How long a session may take to send a request while another one waits for an answer.
SECOND_QUESTION_SECONDS = 5.0


@check("LIM-02", needs="edit", version="2")
async def one_request_too_many_is_refused(stage: AgentStage) -> None:
    await refuse_beyond_the_limit(stage, 1, OPEN_REQUESTS_MAX + 2)


@check("V2-GEN-02", needs="edit", version="2")
async def two_sessions_ask_at_once(stage: AgentStage) -> None:
    """Two sessions have open requests at the same time, with different ids."""
    talk = stage.talk
    talk.host.permission = always(None)
    await talk.initialize()
    sessions = [str((await talk.new_session())["sessionId"]) for _ in range(2)]
    since, _, first = await asked_to_edit(stage, sessions[0])
    await talk.send_prompt(sessions[1], stage.scenario.prompt("edit") or "")

    def is_second(frame: Frame) -> bool:
        return frame.method == ASKING and frame.params.get("sessionId") == sessions[1]

    try:
        second = await talk.peer.expect(
            is_second, "a second question", since=since, timeout=SECOND_QUESTION_SECONDS
        )
    except Unanswered:
        stage.judge.skipped("V2-GEN-02", "the agent asks one thing at a time")
        return
    ok = not same(first.object["id"], second.object["id"])
    said = "two requests that are open have the same id"
    stage.judge.judge("V2-GEN-02", ok, said, sent=first, came=second)


@check("V2-CANCEL-13", needs="edit", version="2")
async def its_own_requests_are_not_withdrawn(stage: AgentStage) -> None:
    """The client cancels a request by an id that only one of the agent's requests has."""
    talk = stage.talk
    allowed, allow = anyio.Event(), talk.host.permission

    async def later(params: Message) -> Reply | None:
        await allowed.wait()
        return await allow(params)

    talk.host.permission = later
    session = await talk.session()
    _, _, frame = await asked_to_edit(stage, session)
    await talk.peer.settled()
    since = len(talk.peer.frames)
    await talk.peer.notify("$/cancel_request", {"requestId": frame.object["id"]})
    came = [one for one in await talk.peer.settled() if one.is_response]
    await talk.peer.quiet()
    moved = [one for one in talk.updates(since=since, session=session) if goes_on(one)]
    said = "a request of the agent's own is withdrawn by its client"
    ok = not came and not moved
    if not stage.judge.judge("V2-CANCEL-13", ok, said, sent=frame, came=came or moved):
        return
    allowed.set()
    try:
        await talk.idle(session, since=since)
    except Unanswered as error:
        said = f"after it was named in a withdrawal, the answer to it is not taken: {error}"
        stage.judge.failed("V2-CANCEL-13", said, sent=frame)


def goes_on(update: Message) -> bool:
    """Whether an update reports that a call does not wait for an answer any more."""
    return update.get("state") in ("idle", "running") or update.get("status") in FINAL
