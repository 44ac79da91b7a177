"""Checks of a v1 agent's optional requests about sessions: fork, archive, status, title."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent.check_environment import AgentStage, Talk, went_well
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.session_history import (
    holds_in_order,
    old,
    said_in,
    taken_up,
    two_turns,
)
from accord.conformance.checks.agent.v1.sessions import CLOSING, ROOTS, listed
from accord.conformance.frames.error_codes import INVALID_PARAMS, NOT_FOUND
from accord.conformance.frames.raw_peer import as_json


@check("V1-CLOSE-17", "V1-CLOSE-18", "V1-CLOSE-19")
async def forks_are_sessions_of_their_own(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.fork"):
        stage.judge.skip_open("the agent has no session/fork")
        return
    session, _ = await two_turns(stage)
    forked = await talk.ask("session/fork", old(stage, session), timeout=talk.seconds)
    fork = str(forked["sessionId"])
    stage.judge.judge("V1-CLOSE-17", fork != session, "the fork has the same id", came=forked)
    result = await talk.prompt(fork, stage.scenario.prompt("say") or "")
    ok = went_well(result)
    stage.judge.judge("V1-CLOSE-18", ok, "a fork cannot be prompted", came=result)
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    stage.judge.judge("V1-CLOSE-17", went_well(result), "the source is gone", came=result)
    await _judge_roots(stage, fork)
    await _judge_source(stage, session, fork)


async def _judge_roots(stage: AgentStage, fork: str) -> None:
    """A fork has only the requested roots, whatever its source has."""
    talk, forks = stage.talk, [fork]
    if not talk.can("sessionCapabilities.list"):
        return
    if talk.can(ROOTS):
        other = stage.root / "other"
        other.mkdir()
        source = str((await talk.new_session(additionalDirectories=[str(other)]))["sessionId"])
        await talk.say(source, stage.scenario.prompt("say"))
        forks.append(str((await talk.prepare("session/fork", old(stage, source)))["sessionId"]))
    for entry in await listed(talk):
        if entry.get("sessionId") in forks:
            roots = entry.get("additionalDirectories")
            stage.judge.judge(
                "V1-CLOSE-19", not roots, "a fork has roots that were not requested", came=entry
            )


async def _judge_source(stage: AgentStage, session: str, fork: str) -> None:
    """Messages of a fork are not replayed as a part of its source.

    By this process and by another one, which has only what was stored.
    """
    talk = stage.talk
    words = stage.scenario.prompt("read")
    if words is None or not talk.can("loadSession"):
        return
    await talk.say(fork, words)
    for again in (False, True):
        if again:
            talk = await taken_up(stage, session, "session/load")
        elif talk.can(CLOSING):
            await talk.peer.call("session/close", {"sessionId": session})
        since = len(talk.peer.frames)
        answer = await talk.call("session/load", old(stage, session), timeout=talk.seconds)
        await talk.peer.settled()
        if "result" not in answer:
            continue
        replayed = said_in(talk, since, by=("user",))
        ok = not holds_in_order(replayed, [words])
        said = "what was said in a fork is replayed with its source"
        stage.judge.judge("V1-CLOSE-17", ok, said, sent=words, came=replayed)


@check("V1-CLOSE-20", "V1-CLOSE-21", "V1-CLOSE-22")
async def archived_sessions_are_hidden(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.archive"):
        stage.judge.skip_open("the agent has no session/archive")
        return
    session, _ = await two_turns(stage)
    for _ in range(2):
        await talk.ask("session/archive", {"sessionId": session})

    async def shown(**filters: Any) -> bool:
        return any(one.get("sessionId") == session for one in await listed(talk, **filters))

    seen = [await shown(), await shown(archived="only"), await shown(archived="include")]
    said = f"shown by default, only, include: {as_json(seen)}"
    stage.judge.judge("V1-CLOSE-20", seen == [False, True, True], said)
    error = await talk.error_of("session/archive", {"sessionId": "accord-check-nope"})
    ok = error.get("code") == NOT_FOUND
    stage.judge.judge("V1-CLOSE-20", ok, "an unknown session is not -32002", came=error)
    sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    said = "an archived session is still open: it can be prompted"
    stage.judge.judge("V1-CLOSE-20", "error" in answer, said, came=answer)
    entries = await listed(talk, archived="include")
    ok = all(isinstance(one.get("archived"), bool) for one in entries)
    stage.judge.judge("V1-CLOSE-21", ok, "an entry does not say archived", came=entries)
    error = await talk.error_of("session/list", {"archived": "_odd"})
    ok = error.get("code") == INVALID_PARAMS
    stage.judge.judge("V1-CLOSE-22", ok, "an unknown filter is not -32602", came=error)


@check("V1-CLOSE-24", "V1-CLOSE-26", "V1-CLOSE-27")
async def status_and_title(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    if talk.can("sessionCapabilities.status"):
        can_list = talk.can("sessionCapabilities.list")
        before = await listed(talk) if can_list else []
        first, second = [await talk.ask("session/status", {"sessionId": session}) for _ in range(2)]
        stage.judge.judge("V1-CLOSE-24", first == second, "status changes", came=[first, second])
        after = await listed(talk) if can_list else []
        said = "asking for the status changes the list"
        stage.judge.judge("V1-CLOSE-24", before == after, said, came=[before, after])
        error = await talk.error_of("session/status", {"sessionId": "accord-check-nope"})
        ok = error.get("code") == NOT_FOUND
        ok = ok and (error.get("data") or {}).get("sessionId") == "accord-check-nope"
        stage.judge.judge("V1-CLOSE-24", ok, "unknown: not -32002 with sessionId", came=error)
    else:
        stage.judge.skipped("V1-CLOSE-24", "the agent has no session/status")
    if not talk.can("sessionCapabilities.title"):
        stage.judge.skip_open("the agent has no session/set_title")
        return
    await talk.say(session, stage.scenario.prompt("say"))
    await talk.ask("session/set_title", {"sessionId": session, "title": "Accord check"})
    for name, title, code in (
        (session, "  ", INVALID_PARAMS),
        (session, "", INVALID_PARAMS),
        ("accord-nope", "x", NOT_FOUND),
    ):
        error = await talk.error_of("session/set_title", {"sessionId": name, "title": title})
        ok = error.get("code") == code
        stage.judge.judge("V1-CLOSE-26", ok, f"not {code} for {as_json(title)}", came=error)
    if await _title(talk, session) != "Accord check":
        said = "the answer came before the title was stored"
        stage.judge.failed("V1-CLOSE-26", said, came=await listed(talk))
        return
    await talk.say(session, stage.scenario.prompt("say"))
    ok = await _title(talk, session) == "Accord check"
    stage.judge.judge("V1-CLOSE-27", ok, "the title was replaced")


async def _title(talk: Talk, session: str) -> Any:
    """Return the title in the list, or the one that was set if there is no list."""
    if not talk.can("sessionCapabilities.list"):
        return "Accord check"
    entry = [one for one in await listed(talk) if one.get("sessionId") == session]
    return entry[0].get("title") if entry else "Accord check"
