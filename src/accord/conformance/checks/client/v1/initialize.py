"""Checks of clients, v1: initialization, and never calling what was not offered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from accord.conformance.check_definition import Check, Findings, check, monitor
from accord.conformance.checks.agent.v2.message_monitors import ABSOLUTE
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import (
    NUMBERS,
    Conversation,
    Offer,
    always,
    modes,
)
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, Unanswered, as_json

# How long a client may take to disconnect from an agent of an unknown version.
LEAVE_SECONDS = 5.0
# All capabilities that an agent of v1 can offer.
ALL: Message = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {
        name: {}
        for name in (
            "list",
            "resume",
            "close",
            "delete",
            "additionalDirectories",
            "systemPrompt",
        )
    },
    "auth": {"logout": {}},
}
# The same capabilities, each switched off.
OFF: Message = {
    "loadSession": False,
    "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
    "mcpCapabilities": {"http": False, "sse": False},
    "sessionCapabilities": dict.fromkeys(ALL["sessionCapabilities"]),
    "auth": {"logout": None},
}
ROOTS = "sessionCapabilities.additionalDirectories"
# The capability to add to the system prompt, and the one to replace it.
SYSTEM_PROMPT = "sessionCapabilities.systemPrompt"
OVERRIDE = f"{SYSTEM_PROMPT}.mode.override"
OPENING = ("session/new", "session/load", "session/resume")
# Methods behind an unstable capability, which have no rule of their own.
UNSTABLE_GATES: dict[str, str] = {
    "session/fork": "sessionCapabilities.fork",
    "session/archive": "sessionCapabilities.archive",
    "session/unarchive": "sessionCapabilities.archive",
    "session/status": "sessionCapabilities.status",
    "session/set_title": "sessionCapabilities.title",
    "auth/status": "auth.status",
}
# The capabilities of an agent with providers, which the kit offers in one check.
_PROVIDERS = ("providers/list", "providers/set", "providers/disable")
# By method: the capability of the agent that it needs, and the rule.
GATES: dict[str, tuple[str, str]] = {
    "session/load": ("loadSession", "V1-LOAD-01"),
    "session/resume": ("sessionCapabilities.resume", "V1-LOAD-07"),
    "session/list": ("sessionCapabilities.list", "V1-CLOSE-04"),
    "session/close": ("sessionCapabilities.close", "V1-CLOSE-01"),
    "session/delete": ("sessionCapabilities.delete", "V1-CLOSE-14"),
    "logout": ("auth.logout", "V1-AUTH-07"),
    **dict.fromkeys(_PROVIDERS, ("providers", "V1-PROV-02")),
}
# The capability of the agent that each type of content block needs.
BLOCKS = {
    "image": "promptCapabilities.image",
    "audio": "promptCapabilities.audio",
    "resource": "promptCapabilities.embeddedContext",
}


def offered(frames: Sequence[Frame], key: str) -> Any:
    """Return the capabilities in the kit's answer to `initialize`."""
    asked = [repr(one.object.get("id")) for one in frames if one.method == "initialize"]
    for frame in frames:
        if frame.sent and frame.is_response and repr(frame.object.get("id")) in asked:
            return queries.at(frame.object, f"result.{key}")
    return None


def without(whole: Message, path: str) -> Message:
    """Return these capabilities without the one at a dotted path."""
    first, _, rest = path.partition(".")
    if not rest:
        return {key: value for key, value in whole.items() if key != first}
    return whole | {first: without(whole[first], rest)}


def is_on(capabilities: Any, path: str) -> bool:
    """Whether a capability of v1 is offered."""
    return queries.at(capabilities, path) not in (None, False)


def is_omitted(capabilities: Any, path: str) -> bool:
    """Whether a capability is missing: neither it nor its parent is mentioned."""
    for name in path.split("."):
        if not isinstance(capabilities, dict) or name not in capabilities:
            return True
        capabilities = capabilities[name]
    return False


def judge_use(judge: Findings, rule: str, can: Any, path: str, frame: Frame, said: str) -> None:
    """Judge the use of a capability, which breaks its rule if it is off.

    Where it is not even mentioned, it is one of V1-CAP-01 too.
    """
    judge.judge(rule, is_on(can, path), said, came=frame)
    if is_omitted(can, path):
        judge.failed("V1-CAP-01", said, came=frame)


@monitor("V1-CAP-01", "V1-CAP-09", *{rule for _, rule in GATES.values()}, role="client")
def gates(frames: Sequence[Frame], judge: Findings) -> None:
    """A client does not call what the kit did not offer, whatever its purpose."""
    can = offered(frames, "agentCapabilities")
    answered = False
    for frame in frames:
        if frame.sent:
            answered = answered or "result" in frame.object
            continue
        if frame.method in _PROVIDERS and not answered:
            judge.failed("V1-PROV-02", f"{frame.method} before initialize is answered", came=frame)
        gate, rule = GATES.get(frame.method or "", ("", ""))
        gate = gate or UNSTABLE_GATES.get(frame.method or "", "")
        if gate and not is_on(can, gate):
            omitted = ("V1-CAP-01",) if is_omitted(can, gate) else ()
            for broken in filter(None, ("V1-CAP-09", rule, *omitted)):
                judge.failed(broken, f"{frame.method} was not offered", came=frame)


@monitor("V1-PROMPT-02", "V1-CAP-01", role="client")
def blocks(frames: Sequence[Frame], judge: Findings) -> None:
    """Every prompt has only blocks that the agent accepts."""
    can = offered(frames, "agentCapabilities")
    for frame in queries.received(frames):
        if frame.method == "session/prompt":
            wrong = unwanted_blocks(frame, partial(takes_block, can))
            said = f"the agent accepts no blocks of {', '.join(wrong)}"
            if block_types(frame) - {"text", "resource_link"}:
                judge.judge("V1-PROMPT-02", not wrong, said, came=frame)
            if any(kind in BLOCKS and is_omitted(can, BLOCKS[kind]) for kind in wrong):
                judge.failed("V1-CAP-01", said, came=frame)


def takes_block(capabilities: Any, kind: str) -> bool:
    """Whether an agent of v1 with these capabilities accepts blocks of this type."""
    return is_on(capabilities, BLOCKS[kind])


def unwanted_blocks(prompt: Frame, takes: Callable[[str], bool]) -> list[str]:
    """Return the types in a prompt that this agent does not accept."""
    kinds = block_types(prompt) - {"text", "resource_link"}
    return sorted(kind for kind in kinds if kind not in BLOCKS or not takes(kind))


def block_types(prompt: Frame) -> set[str]:
    """Return the types of the blocks in a prompt."""
    content = prompt.params.get("prompt")
    blocks_of = content if isinstance(content, list) else []
    return {str(one.get("type")) for one in blocks_of if isinstance(one, dict)}


@monitor("V1-SESS-09", "V1-SESS-16", "V1-SESS-26", "V1-MCP-03", "V1-CAP-01", role="client")
def openings(frames: Sequence[Frame], judge: Findings) -> None:
    """Sessions are opened with folders, servers and system prompts that the agent accepts."""
    can = offered(frames, "agentCapabilities")
    for frame in queries.received(frames):
        if frame.method not in (*OPENING, "session/fork"):
            continue
        roots = frame.params.get("additionalDirectories")
        if roots is not None:
            # Even an empty list is one.
            said = "additionalDirectories was not offered"
            judge_use(judge, "V1-SESS-09", can, ROOTS, frame, said)
            wrong = relative_paths(roots)
            judge.judge("V1-SESS-09", not wrong, f"{wrong} is not absolute", came=frame)
            folders = [frame.params.get("cwd"), *(roots if isinstance(roots, list) else [])]
            again = [one for at, one in enumerate(folders) if one in folders[:at]]
            judge.judge("V1-SESS-16", not again, f"{again} is there twice", came=frame)
        servers = frame.params.get("mcpServers")
        for one in servers if isinstance(servers, list) else []:
            kind = str(one.get("type", "stdio")) if isinstance(one, dict) else "stdio"
            said = f"servers of {kind} were not offered"
            if kind != "stdio":
                judge_use(judge, "V1-MCP-03", can, f"mcpCapabilities.{kind}", frame, said)
        _system_prompt(frame, can, judge)


def relative_paths(roots: Any) -> list[Any]:
    """Return the entries of a list of folders that are not absolute paths."""
    entries = roots if isinstance(roots, list) else [roots]
    return [one for one in entries if not (isinstance(one, str) and ABSOLUTE.match(one))]


def _system_prompt(frame: Frame, can: Any, judge: Findings) -> None:
    """A system prompt is offered, and is text."""
    prompt = frame.params.get("systemPrompt")
    if prompt is None:
        return
    said = "a system prompt was not offered"
    judge_use(judge, "V1-SESS-26", can, SYSTEM_PROMPT, frame, said)
    if queries.at(prompt, "mode") == "override" and is_on(can, SYSTEM_PROMPT):
        said = "to replace the system prompt was not offered"
        judge_use(judge, "V1-SESS-26", can, OVERRIDE, frame, said)
    content = queries.at(prompt, "content")
    texts = [
        one.get("text") if isinstance(one, dict) and one.get("type") == "text" else None
        for one in (content if isinstance(content, list) else [])
    ]
    ok = bool(texts) and all(isinstance(one, str) for one in texts)
    ok = ok and bool("".join(map(str, texts)).strip())
    judge.judge("V1-SESS-26", ok, "the system prompt is not text, or empty", came=frame)


@monitor("V1-PROV-08", role="client")
def disabled_providers(frames: Sequence[Frame], judge: Findings) -> None:
    """A provider that the agent listed as required is not disabled."""
    required: set[Any] = set()
    for frame in frames:
        listed = queries.at(frame.object, "result.providers") if frame.sent else None
        for one in listed if isinstance(listed, list) else []:
            if isinstance(one, dict) and one.get("required"):
                required.add(one.get("providerId"))
        if not frame.sent and frame.method == "providers/disable":
            name = frame.params.get("providerId")
            said = f"the provider {as_json(name)} is required"
            judge.judge("V1-PROV-08", name not in required, said, came=frame)


@monitor("V1-MODE-02", role="client")
def set_modes(frames: Sequence[Frame], judge: Findings) -> None:
    """Every mode that is set is a mode of its session."""
    known: dict[Any, list[Any]] = {}
    asked: dict[str, Frame] = {}
    for frame in frames:
        if not frame.sent and frame.is_request:
            asked[repr(frame.object.get("id"))] = frame
        opened = (
            asked.get(repr(frame.object.get("id"))) if frame.sent and frame.is_response else None
        )
        result = frame.object.get("result")
        if opened is not None and opened.method in OPENING and isinstance(result, dict):
            session = result.get("sessionId", opened.params.get("sessionId"))
            available = queries.at(result, "modes.availableModes") or []
            known[session] = [one.get("id") for one in available if isinstance(one, dict)]
        if not frame.sent and frame.method == "session/set_mode":
            mode = frame.params.get("modeId")
            modes_of = known.get(frame.params.get("sessionId"), [])
            said = (
                f"there is no mode {as_json(mode)} in this session, which has {as_json(modes_of)}"
            )
            judge.judge("V1-MODE-02", mode in modes_of, said, came=frame)


@check(
    "V1-INIT-02", "V1-INIT-03", "V1-INIT-10", "V1-CAP-03", "TR-STDIO-07",
    role="client", basic=True,
)  # fmt: skip
async def introduces_itself(stage: ClientStage) -> None:
    """The first message names a version, the client's capabilities, its name and version."""
    talk = await stage.start()
    frame = await talk.request("initialize")
    params, judge = frame.params, stage.judge
    judge.judge("V1-INIT-02", "protocolVersion" in params, "no version", came=frame)
    version = params.get("protocolVersion", 1)
    ok = isinstance(version, int) and not isinstance(version, bool) and 0 <= version <= 65535
    judge.judge("V1-INIT-10", ok, f"protocolVersion is {as_json(version)}", came=frame)
    info = params.get("clientInfo") or params.get("info")
    named = isinstance(info, dict) and all(info.get(key) for key in ("name", "version"))
    judge.judge("V1-INIT-03", named, "neither name nor version in clientInfo", came=frame)
    told = isinstance(params.get("clientCapabilities"), dict)
    judge.judge("V1-CAP-03", told, "clientCapabilities is not sent", came=frame)
    await judge_first_message(stage, talk, frame)
    if ok and version < NUMBERS["1"]:
        await _judge_newer(stage, talk, frame)


async def judge_first_message(stage: ClientStage, talk: Conversation, frame: Frame) -> None:
    """The first message is sent when it is written, not with the end of the output."""
    held = await stage.was_held_back(talk, frame)
    said = f"it came {frame.at:.0f} s late, when the client closed its output"
    stage.judge.judge("TR-STDIO-07", not held, said, came=frame)


async def _judge_newer(stage: ClientStage, talk: Conversation, asked: Frame) -> None:
    """A client that continues with a newer version than requested speaks it."""
    await talk.reply(asked, stage.offer().answer(stage.version))
    try:
        frame = await talk.request(*OPENING, "session/list", timeout=LEAVE_SECONDS)
    except Unanswered:
        return
    said = f"it asks for version {asked.params['protocolVersion']}, and continues with version 1"
    stage.judge.failed("V1-INIT-02", said, sent=asked, came=frame)


@check("V1-INIT-08", role="client")
async def leaves_a_version_that_it_does_not_speak(stage: ClientStage) -> None:
    """An answer with version 42 is followed by the end of the connection, and nothing else.

    So is one with the next version after the one that was asked for.
    """
    asked = await judge_leaving(stage, "V1-INIT-08", 42)
    if asked == NUMBERS["1"]:
        await judge_leaving(stage, "V1-INIT-08", NUMBERS["2"])


async def judge_leaving(
    stage: ClientStage, rule: str, version: int, *, must_close: bool = True
) -> Any:
    """Answer `initialize` with an unknown version, and judge what the client does.

    Without `must_close` it may stay, if it does not go on.  Returns the version it asked for.
    """
    talk = await stage.start()
    hello = await talk.initialize(stage.offer(protocol_version=version))
    since = len(talk.peer.frames)
    came: list[Frame] = []
    try:
        frame = await talk.peer.expect(lambda one: one.method is not None, "the end", since=since)
        came.append(frame)
    except Unanswered:
        pass
    ok = not came and (talk.peer.closed.is_set() or not must_close)
    stage.judge.judge(rule, ok, "the connection goes on", sent=version, came=came)
    return hello.params.get("protocolVersion")


async def gated(stage: ClientStage, purpose: str, offer: Offer, method: str) -> list[Frame]:
    """Count the calls of a method by a client that was started to use it."""
    talk = await stage.begin(purpose, offer, manual=(method,))
    try:
        await talk.reach(method, timeout=LEAVE_SECONDS)
    except Unanswered:
        pass
    return talk.peer.received(method)


def gate(purpose: str, rule: str, method: str) -> Check[ClientStage]:
    """Make a check that a method is not called if its capability is off.

    Neither where everything is off nor where it alone is: one capability does not imply another.
    """

    async def never_calls(stage: ClientStage) -> None:
        for capabilities in (OFF, without(ALL, GATES[method][0])):
            came = await gated(stage, purpose, Offer(capabilities=capabilities), method)
            for one in stage.judge.rules:
                stage.judge.judge(one, not came, f"{method} was not offered", came=came)

    never_calls.__name__ = f"never_calls_{method.replace('/', '_')}_unasked"
    return check(rule, "V1-CAP-09", role="client")(never_calls)


load_gate = gate("load", "V1-LOAD-01", "session/load")
resume_gate = gate("resume", "V1-LOAD-07", "session/resume")
list_gate = gate("list", "V1-CLOSE-04", "session/list")
close_gate = gate("close", "V1-CLOSE-01", "session/close")
delete_gate = gate("delete", "V1-CLOSE-14", "session/delete")
logout_gate = gate("logout", "V1-AUTH-07", "logout")


@check("V1-CAP-01", role="client")
async def takes_nothing_for_granted(stage: ClientStage) -> None:
    """A capability that is not mentioned is one that the agent lacks."""
    ways = [way for way in ("list", "load", "resume", "close") if stage.scenario.get(way)]
    if not ways:
        stage.leave_open("no scenario says how to make the client list, load, resume or close")
    for way in ways:
        came = await gated(stage, way, Offer(), f"session/{way}")
        said = f"session/{way} was not offered"
        stage.judge.judge("V1-CAP-01", not came, said, came=came)


@check("V1-PROMPT-02", role="client")
async def sends_no_image_unasked(stage: ClientStage) -> None:
    """Blocks other than text and links are sent only to an agent that accepts them."""
    for can in (OFF, without(ALL, BLOCKS["image"])):
        talk, _ = await stage.to_session("image", Offer(capabilities=can))
        try:
            prompt = await talk.request("session/prompt", timeout=LEAVE_SECONDS)
        except Unanswered:
            stage.judge.passed("V1-PROMPT-02")
            continue
        wrong = unwanted_blocks(prompt, partial(takes_block, can))
        said = f"the agent accepts no blocks of {', '.join(wrong)}"
        stage.judge.judge("V1-PROMPT-02", not wrong, said, came=prompt)


@check("V1-SESS-09", role="client")
async def sends_no_roots_unasked(stage: ClientStage) -> None:
    """`additionalDirectories` is sent only to an agent that accepts it."""
    # The monitor judges the params, also that accepted roots are absolute.
    sent: list[Frame] = []
    for can in (ALL, OFF, without(ALL, ROOTS)):
        talk = await stage.begin("roots", Offer(capabilities=can))
        try:
            frame = await talk.session()
            sent += [frame] if "additionalDirectories" in frame.params else []
        except Unanswered:
            pass
    if not sent:
        stage.leave_open("the client sends no further folders, even where they are taken")
    stage.judge.passed("V1-SESS-09")


@check("V1-MCP-03", role="client")
async def sends_no_http_servers_unasked(stage: ClientStage) -> None:
    """An MCP server by HTTP is sent only to an agent that accepts those."""
    for can, taken in ((OFF, {"stdio"}), (without(ALL, "mcpCapabilities.http"), {"stdio", "sse"})):
        talk = await stage.begin("mcp", Offer(capabilities=can))
        try:
            frame = await talk.session()
        except Unanswered:
            stage.judge.passed("V1-MCP-03")
            continue
        servers = frame.params.get("mcpServers", [])
        kinds = {one.get("type", "stdio") for one in servers if isinstance(one, dict)}
        stage.judge.judge("V1-MCP-03", kinds <= taken, f"servers of {as_json(kinds)}", came=frame)


@check("V1-LOAD-02", role="client")
async def loads_with_all_that_it_takes(stage: ClientStage) -> None:
    """`session/load` has the session, its folder and the servers."""
    talk = await stage.begin("load", Offer(capabilities={"loadSession": True}))
    frame = await talk.reach("session/load")
    missing = [key for key in ("sessionId", "cwd", "mcpServers") if key not in frame.params]
    stage.judge.judge("V1-LOAD-02", not missing, f"{missing} is missing", came=frame)
    await talk.reply(frame, modes(stage.version))
    await talk.rest()


async def next_page(stage: ClientStage, talk: Conversation) -> Frame:
    """Wait for the request for one more page.

    Raises:
        NotAsked: none comes; a client need not look at more than one.
    """
    try:
        return await talk.request("session/list")
    except Unanswered:
        stage.leave_open("the client asks for one page only")


@check("V1-CLOSE-06", "V1-CLOSE-07", role="client")
async def follows_cursors_as_they_are(stage: ClientStage) -> None:
    """A cursor is sent back unchanged, and a page without one is the last."""
    talk = await stage.begin("list", Offer(capabilities=ALL), manual=("session/list",))
    first = await talk.reach("session/list")
    cursor = 'b64+/=\u0000 "\\ €'
    one = {"sessionId": "kit-0", "cwd": str(stage.folder)}
    await talk.reply(first, {"sessions": [one], "nextCursor": cursor})
    second = await next_page(stage, talk)
    same = second.params.get("cursor") == cursor
    stage.judge.judge("V1-CLOSE-07", same, "the cursor was changed", sent=cursor, came=second)
    # Not an empty page: its content does not show whether more follows.
    await talk.reply(second, {"sessions": [one | {"sessionId": "kit-9"}]})
    came = [frame for frame in await talk.peer.settled() if frame.method == "session/list"]
    stage.judge.judge("V1-CLOSE-06", not came, "a page was asked for after the last", came=came)


@check("V1-PROV-09", "V1-PROV-02", "V1-PROV-08", role="client")
async def takes_protocols_that_it_does_not_know(stage: ClientStage) -> None:
    """A client that lists the providers continues, whatever protocols they have."""
    offer = Offer(capabilities={"providers": {}})
    for protocols in (["anthropic", "openai"], ["anthropic", "_accord_check"]):
        talk = await stage.begin("prompt", offer)
        current = {"apiType": protocols[-1], "baseUrl": "http://127.0.0.1:9/"}
        main = {"providerId": "main", "supported": protocols, "required": True, "current": current}
        spare = {"providerId": "spare", "supported": protocols[1:], "required": False}
        talk.peer.responders["providers/list"] = always({"providers": [main, spare]})
        try:
            await talk.session(**modes(stage.version))
            await talk.end_turn(await talk.prompt())
        except Unanswered as error:
            asked = talk.peer.received("providers/list")
            stage.need(bool(asked), "the client does not look at providers")
            if protocols[-1] == "openai":
                stage.leave_open(
                    f"the client does not continue with any list of providers: {error}"
                )
            said = f"it does not continue after an unknown protocol of a provider: {error}"
            stage.judge.failed("V1-PROV-09", said, sent=[main, spare], came=asked)
            return
        stage.need(bool(talk.peer.received("providers/list")), "the client has no providers")
    # Monitors judge which are disabled, and whether that was offered.
    stage.judge.passed("V1-PROV-09", "V1-PROV-02", "V1-PROV-08")


@check("V1-MODE-02", role="client")
async def sets_a_mode_that_exists(stage: ClientStage) -> None:
    """`set_mode` names one of the modes that the session has."""
    talk, _ = await stage.to_session("mode")
    frame = await talk.request("session/set_mode", "session/set_config_option", "session/prompt")
    # The monitor judges which modes they are.
    stage.need(frame.method == "session/set_mode", "the client does not use modes")
    await talk.rest()


@check("V1-CFG-02", role="client")
async def prefers_config_options(stage: ClientStage) -> None:
    """With modes and an option for them, the client sets the option."""
    option = modes("2")["configOptions"][0]
    option = {"id": option["configId"], **{k: v for k, v in option.items() if k != "configId"}}
    talk, _ = await stage.to_session("mode", **modes("1"), configOptions=[option])
    frame = await talk.request("session/set_mode", "session/set_config_option", "session/prompt")
    if frame.method == "session/prompt":
        stage.leave_open("the client sets neither mode nor option")
    ok = frame.method == "session/set_config_option"
    stage.judge.judge("V1-CFG-02", ok, f"{frame.method} was called", came=frame)
