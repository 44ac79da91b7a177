"""Checks of the start of a v1 agent: versions, early messages, capabilities, logins."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from accord.conformance.agent.check_environment import (
    AgentStage,
    Declined,
    Refused,
    Talk,
    went_well,
)
from accord.conformance.agent.scenario import Scenario
from accord.conformance.agent.turn import calls_of
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.modes_and_options import values_of
from accord.conformance.checks.agent.v1.session_history import TAKING_UP
from accord.conformance.checks.agent.v1.wire import CODES, judge_refusal
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    UNSUPPORTED_VERSION,
)
from accord.conformance.frames.raw_peer import Message, NotReady, Unanswered, as_json

# The prompts that make an agent use services of its client.
QUESTIONS = frozenset({"elicitation", "url"})
FORKING = ("session/fork", "sessionCapabilities.fork")
TOOL_PURPOSES = ("tool", "read", "edit", "terminal", "elicitation", "url", "plan")


@check("V1-INIT-04", "V1-INIT-06", basic=True)
async def version_1_is_answered_with_1(stage: AgentStage) -> None:
    talk = stage.talk
    with talk.reached.step("initialize"):
        talk.agent = await talk.ask("initialize", talk.hello())
    found = talk.agent.get("protocolVersion")
    ok = type(found) is int and isinstance(talk.agent.get("agentCapabilities", {}), dict)
    stage.judge.judge("V1-INIT-04", ok, "no version and capabilities", came=talk.agent)
    stage.judge.judge(
        "V1-INIT-06", found == 1, f"asked 1, answered {as_json(found)}", came=talk.agent
    )


@check("V1-INIT-07")
async def unknown_versions_get_the_newest(stage: AgentStage) -> None:
    for asked in (99, 0):
        talk = stage.talk if asked == 99 else await stage.another()
        params = talk.hello(protocolVersion=asked)
        answer = await talk.peer.call("initialize", params)
        found = (answer.get("result") or {}).get("protocolVersion")
        # An agent that speaks version 2 too has no version at or below 0 (V2-INIT-03).
        is_too_old = asked == 0 and queries.at(answer, "error.code") == UNSUPPORTED_VERSION
        ok = is_too_old or (type(found) is int and 1 <= found < 99)
        said = f"asked {asked}, answered {as_json(found)}: not a version that exists"
        if not stage.judge.judge("V1-INIT-07", ok, said, sent=params, came=answer):
            return


@check("V1-INIT-10", CODES)
async def odd_versions_are_refused(stage: AgentStage) -> None:
    """Each version in its own process: an agent may end after it has refused one."""
    for number, odd in enumerate(("1", 1.5, -1, 70_000, True)):
        talk = stage.talk if number == 0 else await stage.another()
        params = talk.hello(protocolVersion=odd)
        error = await talk.error_of("initialize", params)
        said = f"version {as_json(odd)} is not refused"
        if not judge_refusal(stage, "V1-INIT-10", error, said, sent=params):
            return


@check("V1-INIT-11")
async def what_comes_too_early_is_refused(stage: AgentStage) -> None:
    await refuse_early(stage, "V1-INIT-11")


async def refuse_early(stage: AgentStage, rule: str) -> None:
    """Requests before `initialize` get -32600, notifications nothing; then `initialize` works."""
    talk = stage.talk
    await talk.peer.notify("session/cancel", {"sessionId": "early"})
    for method in ("session/list", "session/new", "session/prompt"):
        params = {"cwd": str(talk.folder), "mcpServers": [], "sessionId": "early", "prompt": []}
        error = await talk.error_of(method, params)
        ok = error.get("code") == INVALID_REQUEST
        said = f"{method} before initialize got {error.get('code')}, not -32600"
        if not stage.judge.judge(rule, ok, said, sent=method, came=error):
            return
    for method in ("session/load", "session/resume", "authenticate", "auth/login"):
        params = {"cwd": str(talk.folder), "mcpServers": [], "sessionId": "early", "methodId": "x"}
        error = await talk.error_of(method, params)
        # No agent has all of them.
        ok = error.get("code") in (INVALID_REQUEST, NO_METHOD)
        said = f"{method} before initialize got {error.get('code')}, not -32600"
        stage.judge.judge(rule, ok, said, sent=method, came=error)
    answer = await talk.peer.call("initialize", talk.hello())
    ok = "result" in answer
    stage.judge.judge(rule, ok, "initialize does not work after early requests", came=answer)


@check("V1-CAP-05", basic=True)
async def the_baseline_works(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    ok = isinstance(result.get("stopReason"), str) and bool(talk.updates())
    said = "a turn without stop reason or without any session/update"
    stage.judge.judge("V1-CAP-05", ok, said, came=result)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    ok = isinstance(result.get("stopReason"), str)
    stage.judge.judge("V1-CAP-05", ok, "no turn after a cancel", came=result)


@check("V1-CAP-01", "V1-CAP-08", "V1-FS-01", "V1-TERM-01", "V1-ELIC-01", "V1-CFG-07", "V1-ELIC-04")
async def what_a_client_cannot_is_not_asked(stage: AgentStage) -> None:
    """The monitors see what is asked; here the agent is given every reason to ask."""
    talk = stage.talk
    await talk.initialize(clientCapabilities=None)
    session = str((await talk.new_session())["sessionId"])
    with suppress(Unanswered):
        await _tell_options(talk, stage.scenario)
    done: set[str] = set()
    for purpose in TOOL_PURPOSES:
        prompt = stage.scenario.prompt(purpose)
        if prompt is None:
            continue
        since = len(talk.peer.frames)
        try:
            await talk.prompt(session, prompt)
        except Refused as error:
            if stage.scenario.tries:
                continue
            # V1-CAP-02 judges whether everything works without them.
            if purpose in QUESTIONS:
                said = f"without questions the prompt fails: {error}"
                stage.judge.failed("V1-ELIC-04", said, sent=prompt)
        except Unanswered as error:
            # V1-PROMPT-06 judges whether turns end.
            raise NotReady(f"the prompt for {purpose!r} does not work: {error}") from None
        if calls_of(talk, since) or not stage.scenario.tries:
            done.add(purpose)
    if not done:
        stage.judge.close("the prompts led to no tool call", failing=False)
        return
    if done & {"read", "edit", "tool"}:
        stage.judge.passed("V1-FS-01")
    if "terminal" in done:
        stage.judge.passed("V1-TERM-01")
    if done & QUESTIONS:
        stage.judge.passed("V1-ELIC-01", "V1-ELIC-04")
    stage.judge.passed("V1-CAP-01", "V1-CAP-08")


async def _tell_options(talk: Talk, scenario: Scenario) -> None:
    """Make the agent send the options of a session in every way; a monitor judges them."""
    made = await talk.new_session()
    session, options = str(made["sessionId"]), made.get("configOptions")
    selects = [one for one in options or [] if one.get("type") == "select"]
    for option in selects:
        now = option.get("currentValue")
        others = [one for one in values_of(option) if one != now]
        for value in (*others[:1], now):
            params = {"sessionId": session, "configId": option["id"], "value": value}
            await talk.peer.call("session/set_config_option", params, timeout=talk.seconds)
    for purpose in ("mode", "config") if selects else ():
        prompt = scenario.prompt(purpose)
        if prompt is not None:
            await talk.say(session, prompt)
    params = {"sessionId": session, "cwd": str(talk.folder), "mcpServers": []}
    for method, path in (*TAKING_UP, FORKING) if selects else ():
        if talk.can(path):
            await talk.peer.call(method, params, timeout=talk.seconds)


@check("V1-CAP-02", needs="tool")
async def every_set_of_capabilities_works(stage: AgentStage) -> None:
    sets: list[dict[str, object]] = [
        {
            "fs": {"readTextFile": True, "writeTextFile": False},
            "terminal": False,
            "elicitation": {"form": {}},
            "auth": {"terminal": False},
        },
        {
            "fs": {"readTextFile": False, "writeTextFile": True},
            "terminal": False,
            "elicitation": {"url": {}},
            "auth": {},
        },
        {"terminal": True, "session": {"configOptions": {}}, "auth": {"terminal": None}},
        {"fs": None, "terminal": None, "session": 5, "elicitation": [], "auth": 5},
    ]
    for number, offered in enumerate(sets):
        talk = stage.talk if number == 0 else await stage.another()
        await talk.initialize(clientCapabilities=offered)
        session = str((await talk.new_session())["sessionId"])
        for purpose in ("tool", "edit", "terminal", "elicitation", "url"):
            prompt = stage.scenario.prompt(purpose)
            if prompt is None:
                continue
            try:
                result = await talk.prompt(session, prompt)
            except Declined as error:
                if await _works_with_all(stage, offered, prompt):
                    only = f"{purpose} fails with {as_json(offered)}"
                    said = f"{only}, and not with all capabilities: {error}"
                    stage.judge.failed("V1-CAP-02", said, sent=prompt)
                    return
                raise
            ok = went_well(result)
            if stage.scenario.tries and not ok:
                stage.judge.close(f"the prompt for {purpose!r} was refused", failing=False)
                return
            said = f"{purpose} does not work with {as_json(offered)}"
            if not stage.judge.judge("V1-CAP-02", ok, said, came=result):
                return


async def _works_with_all(stage: AgentStage, offered: Message, prompt: str) -> bool:
    """Whether a prompt that failed works with all capabilities, and fails once more without."""
    outcomes: list[bool] = []
    for changes in ({}, {"clientCapabilities": offered}):
        talk = await stage.another()
        await talk.initialize(**changes)
        session = str((await talk.new_session())["sessionId"])
        sent = await talk.send_prompt(session, prompt)
        outcomes.append("result" in await talk.peer.answer_to(sent, timeout=talk.seconds))
    return outcomes == [True, False]


@check("V1-AUTH-08")
async def after_logout_a_login_is_needed(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("auth.logout"):
        stage.judge.skip_open("the agent has no auth.logout")
        return
    params = {"cwd": str(talk.folder), "mcpServers": []}
    before = await talk.peer.call("session/new", params, timeout=talk.seconds)
    if stage.scenario.login:
        await talk.login(stage.scenario.login)
    elif "error" in before:
        stage.judge.close("the scenario names no login", failing=False)
        return
    await talk.ask("logout", {})
    answer = await talk.peer.call("session/new", params, timeout=talk.seconds)
    state = await login_state(talk)
    if "error" in before or "error" in answer or state == "authenticated":
        ok = "error" in answer
        stage.judge.judge("V1-AUTH-08", ok, "session/new works after logout", came=answer)
    elif state is not None or stage.scenario.login or not talk.agent.get("authMethods"):
        stage.judge.skip_open("a session needs no login")
    else:
        # Some agents create a session without a login, but accept no prompt.
        session = str((answer.get("result") or {}).get("sessionId"))
        answer = await talk.answered(session, talk.plain)
        if queries.at(answer, "error.code") == talk.dialect.login_needed:
            stage.judge.passed("V1-AUTH-08")
        else:
            # A login may be optional, which an agent need not report.
            said = "sessions work after logout, and no auth/status says whether they need a login"
            stage.judge.close(said, failing=False)


async def login_state(talk: Talk) -> Any:
    """The login state that the agent reports; None if it cannot be asked."""
    if not talk.can("auth.status"):
        return None
    answer = await talk.peer.call("auth/status", {}, timeout=talk.seconds)
    return queries.at(answer, "result.state")


@check("V1-AUTH-13", "V1-AUTH-16")
async def the_login_can_be_asked_for(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("auth.status"):
        stage.judge.skip_open("the agent has no auth.status")
        return
    first = await judge_status(stage)
    accounts = (first.get("result") or {}).get("accounts")
    if isinstance(accounts, list) and len(accounts) > 1:
        ok = any(isinstance(one, dict) and one.get("active") for one in accounts)
        stage.judge.judge("V1-AUTH-16", ok, "no account is marked active", came=first)


async def judge_status(stage: AgentStage) -> Message:
    """Ask twice for the login state: this needs no login and changes nothing."""
    first, second = [await stage.talk.peer.call("auth/status", {}) for _ in range(2)]
    for answer in (first, second):
        error = answer.get("error")
        if isinstance(error, dict) and error.get("code") != stage.talk.dialect.login_needed:
            raise NotReady(f"auth/status does not work: {error}")
        said = "auth/status needs a login"
        stage.judge.judge("V1-AUTH-13", error is None, said, came=answer)
    states = [queries.at(one, "result.state") for one in (first, second)]
    said = "asking changes the state"
    stage.judge.judge("V1-AUTH-13", states[0] == states[1], said, came=[first, second])
    return first


@check("V1-AUTH-01")
async def unknown_logins_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.agent.get("authMethods"):
        stage.judge.skip_open("the agent has no logins")
        return
    for params in ({"methodId": "accord-check-no-such-login"}, {"methodId": 5}, {}):
        error = await talk.error_of("authenticate", params)
        said = "a login that does not exist succeeds"
        stage.judge.judge("V1-AUTH-01", bool(error), said, sent=params)


@check("V1-PROV-01")
async def providers_are_there_when_advertised(stage: AgentStage) -> None:
    await providers_match(stage)


async def providers_match(stage: AgentStage) -> None:
    """`providers/list` works exactly when `providers` was advertised."""
    talk = stage.talk
    await talk.initialize()
    answer = await talk.peer.call("providers/list", {})
    ok = ("result" in answer) == talk.can("providers")
    stage.judge.judge("V1-PROV-01", ok, "providers/list and the capability differ", came=answer)


@check("V1-PROV-03", "V1-PROV-04", "V1-PROV-05")
async def providers_are_disabled_and_set(stage: AgentStage) -> None:
    await providers_change(stage)


async def providers_change(stage: AgentStage) -> None:
    """Disable and set providers, and judge the effect."""
    talk = stage.talk
    await talk.initialize()
    if not talk.can("providers"):
        stage.judge.skip_open("the agent has no providers")
        return
    listed = (await talk.ask("providers/list", {})).get("providers") or []
    key = "providerId"
    whole = {"apiType": "openai", "baseUrl": "http://127.0.0.1:9/"}
    for params in (
        {key: "accord-check-nobody"},
        {key: "accord-check-nobody"} | whole,
        *({key: one.get(key), "apiType": whole["apiType"]} for one in listed[:1]),
        *({key: one.get(key)} | whole | {"apiType": "_accord_check"} for one in listed[:1]),
    ):
        error = await talk.error_of("providers/set", params)
        ok = error.get("code") == INVALID_PARAMS
        said = "an unknown or malformed provider is not -32602"
        stage.judge.judge("V1-PROV-05", ok, said, sent=params, came=error)
    for one in listed:
        error = await talk.error_of("providers/disable", {key: one.get(key)})
        if one.get("required"):
            ok = error.get("code") == INVALID_PARAMS
            stage.judge.judge("V1-PROV-04", ok, "a required provider is disabled", came=error)
        elif not error:
            again = (await talk.ask("providers/list", {})).get("providers") or []
            ok = any(o.get(key) == one.get(key) and not o.get("current") for o in again)
            said = "a disabled provider is missing from the list, or still has `current`"
            stage.judge.judge("V1-PROV-03", ok, said, came=again)
