"""Checks of a v2 agent's pages, locations and background work."""

from __future__ import annotations

from accord.conformance.agent.check_environment import AgentStage, Talk
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.notices_and_forms import prompted
from accord.conformance.checks.agent.v1.sessions import comes_true
from accord.conformance.checks.agent.v2.sessions import AFTER_CLOSE_SECONDS, FINAL
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Message, NotReady, as_json

# How long to wait for background work.
BACKGROUND_SECONDS = 4.0


@check("V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-24", needs="url", version="2")
async def pages_are_shown(stage: AgentStage) -> None:
    """Make the agent show a page, which the monitors judge."""
    await prompted(stage, "url")


@check("V2-UPS-22", needs="read", version="2")
async def places_are_shown(stage: AgentStage) -> None:
    """Make the agent show a location, which the monitors judge."""
    await prompted(stage, "read")


@check("V2-PROMPT-22", "V2-PROMPT-24", needs="background", version="2")
async def background_is_told_again(stage: AgentStage) -> None:
    """Make the agent send states after the first with a list, which the monitors judge."""
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("background"))
    await talk.say(session, stage.scenario.prompt("say"))


@check(
    "V2-PROMPT-21", "V2-PROMPT-23", "V2-CANCEL-09", "V2-CANCEL-20", needs="background", version="2"
)
async def background_work_goes_on(stage: AgentStage) -> None:
    """A cancel does not affect background work, whose end changes no state."""
    talk = stage.talk
    session = await talk.session()
    began = len(talk.peer.frames)
    state = await talk.say(session, stage.scenario.prompt("background"))
    listed = names_of(state)
    if not listed:
        stage.judge.close("nothing is listed as running in the background", failing=False)
        return
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await talk.peer.settled()
    await talk.peer.quiet()
    ended = [one for one in talk.updates(since=since) if name_of(one) in listed and is_end(one)]
    if any(is_success(one) for one in ended):
        stage.judge.not_exercised("V2-CANCEL-09", "the work in the background was already done")
    else:
        stage.judge.judge("V2-CANCEL-09", not ended, "a cancel ended it", came=ended)

    def left() -> set[str]:
        return listed - {name_of(one) for one in talk.updates(since=began) if is_end(one)}

    await comes_true(talk, lambda: not left(), seconds=BACKGROUND_SECONDS)
    if await states_after(talk, since) <= {"idle"}:
        stage.judge.passed("V2-PROMPT-21")
    for name in left():
        await _judge_cancel_behind(stage, session, name, began)


@check("V2-SESS-15", needs="background", version="2")
async def closing_ends_the_background(stage: AgentStage) -> None:
    """Closing a session ends its background work, without later updates."""
    talk = stage.talk
    session = await talk.session()
    if not names_of(await talk.say(session, stage.scenario.prompt("background"))):
        stage.judge.close("nothing is listed as running in the background", failing=False)
        return
    closing = await talk.peer.ask("session/close", {"sessionId": session})
    if "error" in await talk.peer.answer_to(closing, timeout=talk.seconds):
        raise NotReady("session/close does not work")
    since = talk.peer.place_of_answer(closing)
    await talk.peer.settled()
    await talk.peer.quiet(AFTER_CLOSE_SECONDS)
    late = talk.updates(since=since, session=session)
    stage.judge.judge("V2-SESS-15", not late, "updates after the close", came=late)


async def _judge_cancel_behind(stage: AgentStage, session: str, name: str, began: int) -> None:
    """Cancel the background work of an idle session, if offered: the session stays idle."""
    talk = stage.talk
    told = [one for one in talk.updates(since=began, session=session) if name_of(one) == name]
    offers = [one["capabilities"] for one in told if "capabilities" in one]
    if not offers or queries.at(offers[-1], "cancel") is None:
        return
    kind = "terminal" if "terminalId" in told[-1] else "tool_call"
    key = {"terminal": "terminalId", "tool_call": "toolCallId"}[kind]
    since = len(talk.peer.frames)
    await talk.prepare(f"{kind}/cancel", {"sessionId": session, key: name})
    states = await states_after(talk, since)
    said = f"the states {as_json(sorted(states))} after what is behind was cancelled"
    stage.judge.judge("V2-CANCEL-20", states <= {"idle"}, said)


async def states_after(talk: Talk, since: int) -> set[str]:
    """Return the states from a frame on, also after a short wait."""
    await talk.peer.settled()
    await talk.peer.quiet()
    return {str(one.get("state")) for one in talk.updates(since=since, kind="state_update")}


def names_of(state: Message) -> set[str]:
    """Return the calls and terminals in the list of a state."""
    listed = state.get("background")
    items = [one for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict)]
    return {name_of(one) for one in items}


def name_of(holder: Message) -> str:
    """Return the terminal or call of an update or of an entry in a list."""
    return str(holder.get("terminalId") or holder.get("toolCallId"))


def is_end(update: Message) -> bool:
    """Whether an update reports the end of a terminal or call."""
    return update.get("exitStatus") is not None or update.get("status") in FINAL


def is_success(update: Message) -> bool:
    """Whether a terminal or call has ended with success."""
    status = update.get("exitStatus")
    code = status.get("exitCode") if isinstance(status, dict) else None
    return code == 0 or update.get("status") == "completed"
