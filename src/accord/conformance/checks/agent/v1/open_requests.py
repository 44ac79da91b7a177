"""Checks of the number of requests that an agent holds open, which must have a limit."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.agent.fake_client import always
from accord.conformance.agent.turn import ASKING, asked_to_edit, is_instant
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.sessions import comes_true, more_sessions
from accord.conformance.checks.agent.v1.wire import asking
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import INTERNAL_ERROR
from accord.conformance.frames.raw_peer import as_json

OPEN_REQUESTS_MAX = 1_024
# A session works on one prompt and holds this many more; this many sessions exceed the limit.
HELD_MAX = 16
SESSIONS = OPEN_REQUESTS_MAX // (HELD_MAX + 1) + 4


@check("LIM-02", needs="edit")
async def one_request_too_many_is_refused(stage: AgentStage) -> None:
    await refuse_beyond_the_limit(stage, SESSIONS, HELD_MAX)


async def refuse_beyond_the_limit(stage: AgentStage, sessions: int, held: int) -> None:
    """Have each of some sessions wait for a permission, and send it prompts that wait behind it."""
    talk = stage.talk
    talk.host.permission = always(None)
    first = await talk.session()
    if stage.scenario.tries and not await is_instant(talk, first):
        stage.judge.close("a thousand prompts are not sent to an agent with a model", failing=False)
        return
    edit, say = stage.scenario.prompt("edit") or "", stage.scenario.prompt("say") or ""
    since, sent, _ = await asked_to_edit(stage, first)
    others = [str(one) for one in await more_sessions(talk, sessions - 1)]
    names = [sent, *[await talk.send_prompt(one, edit) for one in others]]
    # Prompts that wait count too.
    await comes_true(talk, lambda: len(talk.peer.received(ASKING)) >= sessions)
    for one in (first, *others):
        names += await talk.peer.ask_at_once("session/prompt", [asking(one, say)] * held)
    await talk.peer.settled()
    judge_open_requests(stage, names, since)


def judge_open_requests(stage: AgentStage, names: list[Any], since: int) -> None:
    """Judge the answers: the requests beyond the limit are refused for that reason."""
    frames = [one for one in stage.talk.peer.frames[since:] if not one.sent and one.is_response]
    reasons = [queries.at(one.object, "error.data.reason") for one in frames]
    refused = [
        one for one, reason in zip(frames, reasons, strict=True) if reason == "too_many_requests"
    ]
    answered = {as_json(one.object.get("id")) for one in frames}
    left = [name for name in names if as_json(name) not in answered]
    if refused:
        codes = {queries.at(one.object, "error.code") for one in refused}
        said = f"too many requests are refused with {codes}, not with -32603"
        stage.judge.judge("LIM-02", codes == {INTERNAL_ERROR}, said, came=refused[0])
    elif len(left) > OPEN_REQUESTS_MAX:
        stage.judge.failed("LIM-02", f"{len(left)} requests are open, and none was refused")
    else:
        said = f"the agent holds no more than {len(left)} prompts open"
        stage.judge.close(said, failing=False)
