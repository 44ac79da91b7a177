"""Checks of the settings of a v1 agent's session: modes, options, commands."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent.check_environment import AgentStage, went_well
from accord.conformance.agent.turn import end_by_cancel, long_turn
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.wire import CODES, judge_refusal
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Message, NotReady, Unanswered, as_json

# The number of options to set; some agents have one for each of many tools.
OPTIONS_MAX = 8
# Commands that only show something in most agents, in the order in which they are tried.
HARMLESS_COMMANDS = (
    "help", "about", "version", "status", "usage", "cost", "context", "tools", "commands", "model",
    "models", "tool", "plan", "echo", "hello", "list", "files", "pwd", "whoami", "info", "stats",
)  # fmt: skip
# A command that no agent has.
NO_COMMAND = "/accord-check-none"


@check("V1-MODE-03", "V1-MODE-04", "V1-MODE-02")
async def modes_change(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    made = await talk.new_session()
    session, modes = str(made["sessionId"]), made.get("modes")
    if not isinstance(modes, dict):
        stage.judge.skip_open("the agent has no modes")
        return
    for bad in ("accord-check-no-mode", "", 5, None):
        params = {"sessionId": session, "modeId": bad}
        error = await talk.error_of("session/set_mode", params)
        said = "a mode that does not exist is accepted"
        stage.judge.judge("V1-MODE-02", bool(error), said, sent=params)
    sent = await long_turn(stage, session)
    if sent is not None:
        other = [one["id"] for one in modes["availableModes"]][-1]
        params = {"sessionId": session, "modeId": other}
        answer = await talk.peer.call("session/set_mode", params)
        said = "the mode cannot be set while a turn runs"
        stage.judge.judge("V1-MODE-04", "result" in answer, said, came=answer)
        await end_by_cancel(talk, session, sent)
    prompt = stage.scenario.prompt("mode")
    if prompt is not None:
        made = await talk.new_session()
        now = queries.at(made, "modes.currentModeId")
        await _judge_own_change(stage, str(made["sessionId"]), prompt, now)


async def _judge_own_change(stage: AgentStage, session: str, prompt: str, before: Any) -> None:
    """Judge whether a mode that the agent changes is announced, if it changes one."""
    talk = stage.talk
    since = len(talk.peer.frames)
    await talk.say(session, prompt)
    told = talk.updates(since=since, kind="current_mode_update", session=session)
    announced = told[-1].get("currentModeId") if told else before
    now = None
    params = {"sessionId": session, "cwd": str(talk.folder), "mcpServers": []}
    for method, path in (("load", "loadSession"), ("resume", "sessionCapabilities.resume")):
        if talk.can(path) and now in (None, before):
            answer = await talk.peer.call(f"session/{method}", params, timeout=talk.seconds)
            now = queries.at(answer, "result.modes.currentModeId") or now
    # An agent may reopen its sessions in the initial mode.
    if now not in (None, before, announced):
        said = f"the mode is {as_json(now)} now, and {as_json(announced)} by what was announced"
        stage.judge.failed("V1-MODE-03", said, came=told)
    elif announced == before:
        stage.judge.not_exercised("V1-MODE-03", "no change of the mode was seen")
    else:
        stage.judge.passed("V1-MODE-03")


@check("V1-CFG-03", "V1-CFG-04", "V1-CFG-05", "V1-CFG-06", "V1-CFG-11", CODES)
async def options_change(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    made = await talk.new_session()
    session, options = str(made["sessionId"]), made.get("configOptions")
    if not options:
        stage.judge.skip_open("the agent has no config options")
        return
    ok = all("currentValue" in one for one in options)
    stage.judge.judge("V1-CFG-04", ok, "an option has no current value", came=options)
    bad = [("accord-check-no-option", "x"), (options[0]["id"], 5)]
    bad += [(one["id"], "accord-no-value") for one in options]
    taken = False
    for name, value in bad:
        params = {"sessionId": session, "configId": name, "value": value}
        error = await talk.error_of("session/set_config_option", params)
        taken |= not judge_refusal(stage, "V1-CFG-11", error, "it is not refused", sent=params)
    if taken:
        # The behaviour of such a session with valid values shows nothing about other rules.
        made = await talk.new_session()
        session = str(made["sessionId"])
    await _set_options(stage, made)
    prompt = stage.scenario.prompt("config")
    if prompt is not None:
        await talk.say(session, prompt)


def option_names(holder: Message) -> set[Any]:
    """Return the ids in a list of options."""
    return {one.get("id") for one in holder["configOptions"]}


async def _set_options(stage: AgentStage, made: Message) -> None:
    """Set some options and restore them; the monitors judge the updates.

    One option may bring and take others, so the lists are compared when all is as it was.
    """
    talk = stage.talk
    session, options = str(made["sessionId"]), made["configOptions"]
    selects = [one for one in options if one.get("type") == "select"]
    for option in selects[:OPTIONS_MAX]:
        now = option.get("currentValue")
        other = next((one for one in values_of(option) if one != now), None)
        if other is None or now is None:
            continue
        base = {"sessionId": session, "configId": option["id"]}
        since = len(talk.peer.frames)
        answer = await talk.peer.call("session/set_config_option", base | {"value": other})
        if "error" in answer:
            # The thing behind a value, such as a model, may be unavailable.
            continue
        changed: Message = answer.get("result") or {}
        if option.get("category") == "mode" and isinstance(made.get("modes"), dict):
            await talk.peer.settled()
            told = talk.updates(since=since, kind="current_mode_update", session=session)
            ok = any(one.get("currentModeId") == other for one in told)
            said = "a mode that is set as an option is not reported as a mode"
            stage.judge.judge("V1-CFG-03", ok, said, sent=other, came=told)
            await _judge_mode_as_option(stage, session, option["id"], now)
        back = await talk.prepare("session/set_config_option", base | {"value": now})
        full = option_names(back) == option_names(made) and option["id"] in option_names(changed)
        said = "the result does not have all options"
        stage.judge.judge("V1-CFG-05", full, said, sent=base, came=[changed, back])


async def _judge_mode_as_option(stage: AgentStage, session: str, option: Any, mode: Any) -> None:
    """A mode that is set is also reported as an option."""
    talk = stage.talk
    since = len(talk.peer.frames)
    answer = await talk.peer.call("session/set_mode", {"sessionId": session, "modeId": mode})
    await talk.peer.settled()
    if "error" in answer:
        return
    told = talk.updates(since=since, kind="config_option_update", session=session)
    lists = [one.get("configOptions") or [] for one in told]
    ok = any(
        one.get("id") == option and one.get("currentValue") == mode
        for entries in lists
        for one in entries
        if isinstance(one, dict)
    )
    said = "a mode change is not reported as an option"
    stage.judge.judge("V1-CFG-03", ok, said, sent=mode, came=told)


def values_of(option: Message) -> list[Any]:
    """Return the values of an option, including those in groups."""
    found: list[Any] = []
    for one in option["options"]:
        inner = one.get("options")
        found += [each["value"] for each in inner] if isinstance(inner, list) else []
        found += [one["value"]] if "value" in one else []
    return found


@check("V1-CMD-03", needs="command")
async def commands_are_run(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    prompt = stage.scenario.prompt("command") or ""
    link = {"type": "resource_link", "uri": (talk.folder / "notes.txt").as_uri(), "name": "notes"}
    params = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}, link]}
    answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    lists = talk.updates(kind="available_commands_update")
    commands = [one for update in lists for one in update.get("availableCommands", [])]
    if prompt.split()[0].removeprefix("/") not in [one.get("name") for one in commands]:
        own = harmless_command(commands) if stage.scenario.tries else None
        if own is None:
            stage.judge.close("the command is not one of the agent's", failing=False)
            return
        prompt = f"/{own}"
        params = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}, link]}
        answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    ok = "result" in answer and went_well(answer["result"] or {})
    stage.judge.judge("V1-CMD-03", ok, "the command was not run", sent=params, came=answer)
    await _judge_company(stage, session, prompt, link)


def harmless_command(commands: list[Message]) -> str | None:
    """Return a command that only shows something and needs no input, judged by its name."""
    names = [str(one.get("name")) for one in commands if not one.get("input")]
    return next((one for one in HARMLESS_COMMANDS if one in names), None)


async def _judge_company(stage: AgentStage, session: str, prompt: str, link: Message) -> None:
    """A command works with other blocks around it, and is not read as plain text.

    What is read as plain text is answered as a command that does not exist, name for name.
    """

    async def reply(name: str, *more: str, ahead: bool = False, behind: bool = False) -> str:
        text = {"type": "text", "text": " ".join([name, *rest, *more])}
        blocks = [link] * ahead + [text] + [link] * behind
        since = len(stage.talk.peer.frames)
        params = {"sessionId": session, "prompt": blocks}
        try:
            await stage.talk.peer.call("session/prompt", params, timeout=stage.talk.seconds)
        except Unanswered as error:
            raise NotReady(f"a command does not work: {error}") from None
        return stage.talk.said(since=since).replace(name, "/name")

    own, *rest = prompt.split()
    if await reply(own) == await reply(NO_COMMAND):
        return
    for words, places in ((), {"behind": True}), ((), {"ahead": True}), (("notes.txt",), {}):
        plain = await reply(NO_COMMAND, *words, **places)
        ok = not plain or await reply(own, *words, **places) != plain
        said = "with something beside it the command is read as plain text"
        stage.judge.judge("V1-CMD-03", ok, said, sent=prompt, came=plain)
