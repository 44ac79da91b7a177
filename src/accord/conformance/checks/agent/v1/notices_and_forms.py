"""Checks of a v1 agent's pages, forms, notices, compactions and paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.conformance.agent.check_environment import AgentStage, Refused, went_well
from accord.conformance.agent.fake_client import always
from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.agent.v1.session_history import old, taken_up
from accord.conformance.checks.agent.v1.sessions import comes_true
from accord.conformance.checks.agent.v1.turns import prompt_with_form
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, NotReady, Reply, Unanswered, as_json


@monitor("V1-TOOL-10")
def paths(frames: Sequence[Frame], judge: Findings) -> None:
    """The paths of diffs and locations are absolute."""
    for _, frame, _, update in queries.updates(frames, "tool_call", "tool_call_update"):
        for key in ("content", "locations"):
            entries = update.get(key)
            for one in entries if isinstance(entries, list) else []:
                path = one.get("path") if isinstance(one, dict) else None
                if isinstance(path, str):
                    ok = path.startswith("/") or path[1:3] in (":\\", ":/")
                    judge.judge(
                        "V1-TOOL-10", ok, f"the path {as_json(path)} is relative", came=frame
                    )


@monitor("V1-GEN-07")
def lines(frames: Sequence[Frame], judge: Findings) -> None:
    """The lines of files that are read or named are counted from 1."""
    for frame in queries.received(frames):
        if frame.method == "fs/read_text_file":
            _judge_line(frame, frame.params.get("line"), judge)
    for _, frame, _, update in queries.updates(frames, "tool_call", "tool_call_update"):
        places = update.get("locations")
        for one in places if isinstance(places, list) else []:
            _judge_line(frame, queries.at(one, "line"), judge)


def _judge_line(frame: Frame, line: Any, judge: Findings) -> None:
    if line is not None:
        ok = type(line) is int and line >= 1
        judge.judge("V1-GEN-07", ok, f"line {as_json(line)}", came=frame)


@check("V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-24", needs="url")
async def pages_are_shown(stage: AgentStage) -> None:
    """Make the agent show a page, which the monitors judge."""
    await prompted(stage, "url")


@check("V1-ELIC-10", "V1-ELIC-27", needs="elicitation")
async def forms_are_shown(stage: AgentStage) -> None:
    """Make the agent show a form, which the monitors judge."""
    await prompted(stage, "elicitation")


@check("V1-ELIC-04", needs="elicitation")
async def forms_are_not_needed(stage: AgentStage) -> None:
    """A prompt that leads to a form also works for a client without forms."""
    prompt = stage.scenario.prompt("elicitation")
    answers: list[Message] = []
    offers: tuple[Message, ...] = ({"clientCapabilities": {}}, {})
    for changes in offers:
        talk = stage.talk if not answers else await stage.another()
        await talk.initialize(**changes)
        session = str((await talk.new_session())["sessionId"])
        answers.append(await talk.answered(session, prompt))
        if "result" in answers[0]:
            break
    if "result" not in answers[-1]:
        stage.judge.close("the prompt works neither with forms nor without", failing=False)
        return
    said = "without forms the prompt fails"
    stage.judge.judge("V1-ELIC-04", "result" in answers[0], said, sent=prompt, came=answers[0])


@check("V1-USAGE-05", "V1-USAGE-06", needs="notice")
async def notices_are_sent(stage: AgentStage) -> None:
    """Notices, with and without a client that accepts them."""
    await prompted(stage, "notice")
    await without(stage, "notice", "V1-USAGE-05")


@check("V1-USAGE-09", "V1-USAGE-10", "V1-USAGE-11", "V1-USAGE-15", needs="compaction")
async def compactions_are_told(stage: AgentStage) -> None:
    """Compactions, with and without a client that accepts them."""
    await prompted(stage, "compaction")
    await judge_ends(stage)
    await without(stage, "compaction", "V1-USAGE-09")


async def judge_ends(stage: AgentStage) -> None:
    """A compaction that has begun also ends, even after its turn."""
    talk = stage.talk

    def open_ones() -> set[str]:
        told = talk.updates(kind="compaction_update")
        last = {str(one.get("compactionId")): one["status"] for one in told if "status" in one}
        return {name for name, status in last.items() if status == "in_progress"}

    await comes_true(talk, lambda: not open_ones())
    if talk.updates(kind="compaction_update"):
        said = f"never ended: {', '.join(sorted(open_ones()))}"
        stage.judge.judge("V1-USAGE-15", not open_ones(), said)


@check("V1-ELIC-11", needs="secret")
async def secrets_are_asked_for_by_an_address(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    try:
        await talk.prompt(session, stage.scenario.prompt("secret") or "")
    except Refused:
        pass
    except Unanswered as error:
        raise NotReady(str(error)) from None
    for frame in talk.peer.received("elicitation/create"):
        ok = frame.params.get("mode") == "url"
        stage.judge.judge("V1-ELIC-11", ok, "a secret is asked for by a form", came=frame)


@check("V1-ELIC-19", needs="elicitation")
async def values_of_forms_are_checked(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    bad = {"action": "accept", "content": {"accord-check-no-field": [[]], "name": {"a": 1}}}
    talk.host.elicitation = always(Reply(bad))
    await prompt_with_form(stage, session)
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    stage.judge.judge("V1-ELIC-19", went_well(result), "bad values end the session")


@check("V1-LOAD-05", needs="notice")
async def notices_are_not_replayed(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("loadSession"):
        stage.judge.skip_open("the agent has no loadSession")
        return
    session = str((await talk.new_session())["sessionId"])
    await talk.say(session, stage.scenario.prompt("notice"))
    if not talk.updates(kind="notice"):
        stage.judge.close("the prompt led to no notice", failing=False)
        return
    talk = await taken_up(stage, session, "session/load")
    since = len(talk.peer.frames)
    await talk.prepare("session/load", old(stage, session))
    came = talk.updates(since=since, kind="notice")
    stage.judge.judge("V1-LOAD-05", not came, "a notice was replayed", came=came)


async def prompted(stage: AgentStage, purpose: str) -> None:
    """Run one turn with the prompt for this purpose."""
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt(purpose))


async def without(stage: AgentStage, purpose: str, rule: str) -> None:
    """Run the turn with a client that offers nothing; the monitors judge the messages."""
    talk = await stage.another()
    await talk.initialize(clientCapabilities={})
    session = str((await talk.new_session())["sessionId"])
    await talk.say(session, stage.scenario.prompt(purpose))
    stage.judge.passed(rule)
