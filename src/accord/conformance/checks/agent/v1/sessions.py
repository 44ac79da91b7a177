"""Checks of a v1 agent's sessions: making, roots, system prompts, MCP servers."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from accord.conformance.agent.check_environment import AgentStage, Refused, Talk
from accord.conformance.agent.fake_client import choosing
from accord.conformance.agent.turn import calls_of, tool_calls
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.wire import CODES, OPENED_AGAIN, judge_refusal
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Message, NotReady, Unanswered, as_json

SESSIONS = 20
ROOTS = "sessionCapabilities.additionalDirectories"
CLOSING = "sessionCapabilities.close"
# How long to create sessions for a check that wants many; a slow agent makes fewer.
MAKING_SECONDS = 20.0
# The content of the files of another root, and the name of one that only it has.
OTHERS = "of the other root\n"
ONLY_THERE = "elsewhere.txt"
# A line of a command's output that is the name of a folder.
FOLDER = re.compile(r"^(/[^\s`'\"]*)\r?$", re.MULTILINE)


async def listed(talk: Talk, **filters: Any) -> list[dict[str, Any]]:
    """Return all sessions, from at most a hundred pages."""
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = dict(filters)
    for _ in range(100):
        page = await talk.ask("session/list", params)
        found += [one for one in page["sessions"] if isinstance(one, dict)]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
        params = {**filters, "cursor": cursor}
    return found


async def more_sessions(talk: Talk, count: int) -> list[Any]:
    """Create this many sessions, or as many as a time limit allows, and return their ids."""
    ids: list[Any] = []
    with anyio.move_on_after(MAKING_SECONDS):
        while len(ids) < count:
            ids.append((await talk.new_session()).get("sessionId"))
    return ids


@check("V1-SESS-02", basic=True)
async def session_ids_differ(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    ids = [(await talk.new_session()).get("sessionId") for _ in range(2)]
    ids += await more_sessions(talk, SESSIONS - len(ids))
    if talk.can("loadSession"):
        # A session that is loaded by its id must differ from those of other processes.
        other = await stage.another()
        await other.initialize()
        ids.append((await other.new_session()).get("sessionId"))
    ok = len({json.dumps(one) for one in ids}) == len(ids) and all(isinstance(i, str) for i in ids)
    stage.judge.judge("V1-SESS-02", ok, "session ids repeat or are not strings", came=ids)


@check("V1-SESS-10", "V1-SESS-20", "V1-SESS-19", "V1-SESS-08", CODES)
async def bad_roots_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.session()
    if not talk.can(ROOTS):
        stage.judge.skip_open("the agent has no additional directories")
        return
    can_list = talk.can("sessionCapabilities.list")
    before = len(await listed(talk)) if can_list else 0
    base = {"cwd": str(talk.folder), "mcpServers": []}
    good = str(stage.root)
    for bad in ("x", [5], [""], ["relative"], [good, "relative"], [good, 5], ["./", good]):
        params = base | {"additionalDirectories": bad}
        error = await talk.error_of("session/new", params)
        judge_refusal(stage, "V1-SESS-10", error, f"{as_json(bad)} is accepted", sent=params)
    if can_list:
        after = len(await listed(talk))
        stage.judge.judge("V1-SESS-10", after == before, "a refused session was made")
    answer = await talk.peer.call("session/new", base)
    stage.judge.judge("V1-SESS-20", "result" in answer, "without roots no session", came=answer)
    null: Message = base | {"additionalDirectories": None}
    answer = await talk.peer.call("session/new", null)
    said = "null for additionalDirectories is not read as an empty list"
    stage.judge.judge("V1-SESS-08", "result" in answer, said, sent=null, came=answer)
    if can_list:
        odd = f"{talk.folder}/./"
        made = await talk.new_session(cwd=odd, additionalDirectories=[odd])
        entry = [s for s in await listed(talk) if s.get("sessionId") == made["sessionId"]]
        roots = entry[0].get("additionalDirectories") if entry else None
        if entry and roots:
            ok = {entry[0].get("cwd")} >= set(roots)
            stage.judge.judge("V1-SESS-19", ok, "cwd and roots in different forms", came=entry)


@check("V1-SESS-03", needs="where")
async def work_is_done_in_the_folder_of_the_session(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    second = stage.root / "second"
    second.mkdir()
    talk.host.roots.append(second)
    sessions: list[tuple[str, Path]] = []
    for folder in (talk.folder, second):
        session = str((await talk.new_session(cwd=str(folder)))["sessionId"])
        talk.host.folders[session] = folder
        sessions.append((session, folder))
    # The second one first, so that the folder of the last session is not used by chance.
    for session, folder in reversed(sessions):
        if not await _works_in(stage, session, folder):
            return


async def _works_in(stage: AgentStage, session: str, folder: Path) -> bool:
    """Judge whether a command of this session runs in this folder."""
    talk = stage.talk
    since, before = len(talk.peer.frames), len(talk.host.terminals)
    await talk.say(session, stage.scenario.prompt("where"))
    outputs = [bytes(one.output) for one in list(talk.host.terminals.values())[before:]]
    texts = [one.decode("utf-8", "replace") for one in outputs]
    texts += [talk.said(since=since), *texts_of_calls(talk, since)]
    if any(str(folder) in text for text in texts):
        stage.judge.passed("V1-SESS-03")
        return True
    if elsewhere := folders_in(texts):
        said = f"the command ran in {elsewhere[0]}, not in the session's cwd, {folder}"
        stage.judge.failed("V1-SESS-03", said)
    else:
        stage.judge.close("no command printed where it runs", failing=False)
    return False


def folders_in(texts: list[str]) -> list[str]:
    """Return the lines that are names of folders."""
    return [one for text in texts for one in FOLDER.findall(text) if os.path.isdir(one)]


def texts_of_calls(talk: Talk, since: int) -> list[str]:
    """Return the text in the content of tool calls."""
    found: list[str] = []
    for update in tool_calls(talk, since):
        content = update.get("content")
        for one in content if isinstance(content, list) else []:
            text = queries.at(one, "content.text")
            found += [text] if isinstance(text, str) else []
        raw = update.get("rawOutput")
        found += [raw if isinstance(raw, str) else json.dumps(raw)] if raw is not None else []
    return found


@check("V1-SESS-05", "V1-SESS-04", "V1-SESS-12", needs="read")
async def relative_names_are_of_the_folder(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    roots = {}
    other = stage.root / "other"
    if talk.can(ROOTS):
        other.mkdir()
        (other / "notes.txt").write_text(OTHERS, "utf-8")
        (other / ONLY_THERE).write_text(OTHERS, "utf-8")
        roots = {"additionalDirectories": [str(other)]}
        talk.host.roots.append(other)
    session = str((await talk.new_session(**roots))["sessionId"])
    for rule in () if roots else ("V1-SESS-04", "V1-SESS-12"):
        stage.judge.skipped(rule, "the agent has no additional directories")
    if not await _reads_in_folder(stage, session, with_roots=bool(roots)):
        return
    if roots:
        mixed = _has_read(talk, other / "notes.txt", 0, 0)
        stage.judge.judge("V1-SESS-04", not mixed, "the file of another root was read")
        await _looks_nowhere_else(stage, session)
        await _reads_in_root(stage, session, other / "notes.txt")
        for method, path in (("load", "loadSession"), ("resume", "sessionCapabilities.resume")):
            if talk.can(path):
                await _reads_in_root_again(stage, session, f"session/{method}", other)
    await _reads_through_links(stage, other if roots else None)


async def _reads_in_folder(stage: AgentStage, session: str, *, with_roots: bool) -> bool:
    """Judge whether the file in cwd is read; if not, compare a session without other roots."""
    talk = stage.talk
    if await _is_read(stage, session):
        stage.judge.passed("V1-SESS-05")
        return True
    if has_failed(talk) and not stage.scenario.tries:
        stage.judge.failed("V1-SESS-05", "a file in cwd was not read", came=talk.said())
    elif (
        with_roots
        and await _is_read(stage, str((await talk.new_session())["sessionId"]))
        and not await _is_read(stage, session)
    ):
        said = "a file in cwd is read in a session without other roots, and not in one with them"
        stage.judge.failed("V1-SESS-05", said, came=talk.said())
    elif await _is_read(stage, session, whole=True) and not await _is_read(stage, session):
        said = "a file in cwd is read by its whole name, and not by its relative one"
        stage.judge.failed("V1-SESS-04", said, came=talk.said())
    stage.judge.close("the prompt did not make the agent read the file", failing=False)
    return False


async def _reads_through_links(stage: AgentStage, other: Path | None) -> None:
    """A folder that is named through a link is still the session's folder."""
    talk = stage.talk
    asked = len(talk.peer.received("session/request_permission"))
    links = {"linked": talk.folder} | ({"linked-other": other} if other is not None else {})
    for name, folder in links.items():
        (stage.root / name).symlink_to(folder, target_is_directory=True)
    roots = [str(stage.root / name) for name in links][1:]
    more = {"additionalDirectories": roots} if roots else {}
    made = await talk.new_session(cwd=str(stage.root / "linked"), **more)
    session = str(made["sessionId"])
    # Try again if the file is not read: a model may do something else.
    read = await _is_read(stage, session) or await _is_read(stage, session)
    asks = len(talk.peer.received("session/request_permission")) > asked == 0
    said = "permission is asked for a file" if asks else "a file is not read"
    said += " in a folder that is named through a link, but not by the folder's own name"
    stage.judge.judge("V1-SESS-05", read and not asks, said, sent=str(stage.root / "linked"))
    known = stage.judge.found.get("V1-SESS-12")
    if roots and read and not asks and known is not None and known.verdict == "pass":
        path = Path(roots[0], "notes.txt")
        await _reads_in_root(stage, session, path, after=", where a link names the root")


async def _is_read(stage: AgentStage, session: str, *, whole: bool = False) -> bool:
    """Whether the prompt for it makes the agent read the file in the session's folder.

    With `whole`, the prompt has the whole name of the file.
    """
    talk = stage.talk
    since, before = len(talk.peer.frames), len(talk.host.read)
    prompt = stage.scenario.prompt("read") or ""
    path = str(talk.folder / "notes.txt")
    await talk.say(session, prompt.replace("notes.txt", path) if whole else prompt)
    text = stage.scenario.files["notes.txt"].strip()
    told = talk.said(since=since) + talk.came(since=since)
    return text in told or len(talk.host.read) > before


async def _looks_nowhere_else(stage: AgentStage, session: str) -> None:
    """A relative name of a file that only another root has leads nowhere.

    A model that is told so may look for the file and read it by its whole name, which is no
    relative one: that takes more than one call.
    """
    talk = stage.talk
    since, before = len(talk.peer.frames), len(talk.host.read)
    prompt = (stage.scenario.prompt("read") or "").replace("notes.txt", ONLY_THERE)
    try:
        await talk.prompt(session, prompt)
    except Refused:
        # A prompt that fails because of it has not found the file.
        pass
    except NotReady:
        raise
    except Unanswered as error:
        raise NotReady(f"the prompt {as_json(prompt)} does not work: {error}") from None
    found = _has_read(talk, stage.root / "other" / ONLY_THERE, since, before)
    if found and len(calls_of(talk, since)) <= 1:
        said = "a relative name led to a file that only another root has"
        stage.judge.failed("V1-SESS-04", said, sent=prompt, came=talk.came(since=since))


def _has_read(talk: Talk, path: Path, since: int, before: int) -> bool:
    """Whether the agent or the client has read a file of the other root since then."""
    told = OTHERS.strip() in talk.said(since=since) + talk.came(since=since)
    return told or os.path.realpath(path) in talk.host.read[before:]


async def _reads_in_root_again(stage: AgentStage, session: str, method: str, other: Path) -> None:
    """Read again after the session is reopened with its roots, if that is possible."""
    talk = stage.talk
    if talk.can("sessionCapabilities.close"):
        await talk.prepare("session/close", {"sessionId": session})
    params = {"sessionId": session, "cwd": str(stage.folder), "mcpServers": []}
    params |= {"additionalDirectories": [str(other)]}
    answer = await talk.call(method, params, timeout=talk.seconds)
    if "result" in answer:
        await _reads_in_root(stage, session, other / "notes.txt", after=f" after {method}")


async def _reads_in_root(stage: AgentStage, session: str, path: Path, *, after: str = "") -> None:
    talk = stage.talk
    asked = len(talk.peer.received("session/request_permission"))
    since, before = len(talk.peer.frames), len(talk.host.read)
    prompt = (stage.scenario.prompt("read") or "").replace("notes.txt", str(path))
    await talk.say(session, prompt)
    read = _has_read(talk, path, since, before)
    # An agent that requests permission for every reading does so here too.
    asks = len(talk.peer.received("session/request_permission")) > asked == 0
    refuses = not read and (stage.scenario.tries or not has_failed(talk, since))
    if after and not read and stage.judge.found["V1-SESS-12"].verdict == "pass":
        # The file was read before: try again, since a model may do something else.
        await talk.say(session, prompt)
        read = _has_read(talk, path, since, before)
    elif (
        refuses and not asks and stage.scenario.tries and await _is_read(stage, session, whole=True)
    ):
        # It reads such names elsewhere: try again, since a model may do something else.
        await talk.say(session, prompt)
        read = _has_read(talk, path, since, before)
    elif refuses and not asks:
        said = "the prompt did not make the agent read the file under the root"
        stage.judge.not_exercised("V1-SESS-12", said)
        return
    said = "permission is asked" if asks else "the file is not read"
    said = f"under a root that was given, {said}{after}"
    stage.judge.judge("V1-SESS-12", read and not asks, said)


def has_failed(talk: Talk, since: int = 0) -> bool:
    """Whether a tool call was seen to fail."""
    return any(one.get("status") == "failed" for one in tool_calls(talk, since))


@check("V1-SESS-13", "V1-SESS-18", needs="link")
async def links_do_not_lead_out(stage: AgentStage) -> None:
    talk = stage.talk
    # The client offers no files, so the agent has to read them from disk.
    await talk.initialize(clientCapabilities={})
    if stage.scenario.tries and not talk.can(ROOTS):
        stage.judge.skip_open("the agent has no additional directories")
        return
    session = str((await talk.new_session())["sessionId"])
    talk.host.permission = choosing("reject")
    prompt = stage.scenario.prompt("link") or ""
    await talk.say(session, prompt)
    ok = "what-is-outside" not in talk.came()
    if ok and stage.scenario.tries and not calls_of(talk, 0):
        stage.judge.close("the prompt led to no tool call", failing=False)
        return
    stage.judge.judge("V1-SESS-13", ok, "a link out of the root was followed", sent=prompt)
    (talk.folder / "linked-out").symlink_to(stage.root, target_is_directory=True)
    await talk.say(session, prompt.replace("link.txt", "linked-out/secret.txt"))
    ok = "what-is-outside" not in talk.came()
    stage.judge.judge("V1-SESS-13", ok, "a link out of the root was followed", sent=prompt)
    up = prompt.replace("link.txt", "../secret.txt")
    absolute = prompt.replace("link.txt", f"{talk.folder}/../secret.txt")
    for text in (up, absolute):
        await talk.say(session, text)
    ok = "what-is-outside" not in talk.came()
    said = "a link or a path with .. led out of the root"
    stage.judge.judge("V1-SESS-18", ok, said, sent=[up, absolute])


@check("V1-SESS-06", needs="outside")
async def nothing_is_written_outside_unasked(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize(clientCapabilities={})
    session = str((await talk.new_session())["sessionId"])
    talk.host.permission = choosing("reject")
    prompt, outside = stage.scenario.prompt("outside") or "", stage.root / "outside.txt"
    # The name of the second begins with that of the folder.
    beside = stage.root / f"{talk.folder.name}-outside.txt"
    for name in ("../outside.txt", str(outside), str(beside)):
        await talk.say(session, prompt.replace("../outside.txt", name))
    ok = not outside.exists() and not beside.exists()
    if ok and stage.scenario.tries and not calls_of(talk, 0):
        stage.judge.close("the prompt led to no tool call", failing=False)
        return
    stage.judge.judge("V1-SESS-06", ok, "a file outside the roots was written without permission")


@check("V1-SESS-25")
async def system_prompts_that_cannot_be_applied_fail(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.systemPrompt"):
        stage.judge.skip_open("the agent has no system prompts")
        return
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    text = {"type": "text", "text": "Be brief."}
    for bad in ({"mode": "_odd", "content": [text]}, {"mode": "append", "content": [image]}):
        params = {"cwd": str(talk.folder), "mcpServers": [], "systemPrompt": bad}
        error = await talk.error_of("session/new", params)
        stage.judge.judge("V1-SESS-25", bool(error), "it is accepted", sent=params, came=error)


def asked_of(log: Path) -> list[dict[str, Any]]:
    """Return the requests that the recording MCP server got so far."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


async def wait_for_server(talk: Talk, log: Path, method: str) -> bool:
    """Whether the server gets this request within a time limit."""
    return await comes_true(talk, lambda: any(one.get("method") == method for one in asked_of(log)))


async def comes_true(talk: Talk, seen: Callable[[], bool], *, seconds: float | None = None) -> bool:
    """Whether a condition that other programs fulfil holds within a time limit."""
    with anyio.move_on_after(talk.peer.patience if seconds is None else seconds):
        while not seen():  # noqa: ASYNC110 - nothing here is told when it happens
            await anyio.sleep(0.05)
    return seen()


async def has_use_for_servers(stage: AgentStage, session: str) -> bool:
    """Whether an agent can use a server: one without tools cannot.

    It is one with tools where it calls one of its own in the same session.
    """
    tool = stage.scenario.prompt("tool")
    if not stage.scenario.tries or stage.scenario.prompt("mcp") is None or tool is None:
        return stage.scenario.prompt("mcp") is not None
    since = len(stage.talk.peer.frames)
    await stage.talk.say(session, tool)
    return bool(calls_of(stage.talk, since))


def prompted_for_servers(stage: AgentStage) -> str:
    """Return the end of the finding for an unused server: whether a prompt asked for it."""
    if stage.scenario.prompt("mcp") is None:
        return ": the scenario has no prompt for 'mcp'"
    return " after the prompt for 'mcp'; a prompt of your own may work better"


@check("V1-MCP-01", "V1-MCP-04")
async def stdio_servers_are_connected(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    first, first_log = stage.mcp_server()
    second, second_log = stage.mcp_server("accord-check-2")
    session = str((await talk.new_session(mcpServers=[first, second]))["sessionId"])
    # Some agents connect with the first prompt only.
    await talk.say(session, stage.scenario.prompt("mcp") or stage.scenario.prompt("say"))
    ok = await wait_for_server(talk, first_log, "initialize")
    if not ok and not await has_use_for_servers(stage, session):
        stage.judge.close(f"no server was connected{prompted_for_servers(stage)}", failing=False)
        return
    stage.judge.judge("V1-MCP-01", ok, "a stdio server was never asked to initialize", sent=first)
    if ok:
        given = asked_of(first_log)[0].get("token")
        said = "the server did not get its environment"
        stage.judge.judge("V1-MCP-01", given == "s3cr3t-of-the-server", said, sent=first)
    both = ok and await wait_for_server(talk, second_log, "initialize")
    stage.judge.judge("V1-MCP-04", both, "not every listed server was connected", sent=second)
    for method, path in OPENED_AGAIN:
        if ok and talk.can(path):
            await judge_servers_again(stage, method, session, "V1-MCP-01")


async def judge_servers_again(stage: AgentStage, method: str, session: str, rule: str) -> None:
    """A server is also connected when a session is reopened with it."""
    talk = stage.talk
    if method != "session/fork" and (talk.dialect.always_closes or talk.can(CLOSING)):
        await talk.peer.call("session/close", {"sessionId": session})
    # A session that cannot be closed may keep its servers: this one is new.
    server, log = stage.mcp_server(f"accord-check-{method.rpartition('/')[2]}")
    params = {"sessionId": session, "cwd": str(talk.folder), "mcpServers": [server]}
    answer = await talk.call(method, params, timeout=talk.seconds)
    result = answer.get("result")
    if "result" not in answer:
        return
    opened = str((result or {}).get("sessionId", session))
    if not asked_of(log):
        # Some agents connect with the first prompt only.
        await talk.say(opened, stage.scenario.prompt("mcp") or stage.scenario.prompt("say"))
    ok = await wait_for_server(talk, log, "initialize")
    said = f"a server that session/new connects to is not connected by {method}"
    stage.judge.judge(rule, ok, said, sent=params)


@check("V1-MCP-06")
async def commands_of_servers_are_absolute(stage: AgentStage) -> None:
    """Relative commands that could be started: on the search path, and in the session's folder."""
    server, log = stage.mcp_server("accord-check-odd")
    words = " ".join(shlex.quote(one) for one in (server["command"], *server["args"]))
    for path in (stage.programs / "accord-check-bare", stage.folder / "accord-check-here"):
        path.write_text(f"#!/bin/sh\nexec {words}\n", "utf-8")
        path.chmod(0o755)
    await stage.talk.session()
    # A server has a search path of its own.
    bare = ("accord-check-bare",) if stage.remote is None else ()
    for command in (*bare, "./accord-check-here"):
        log.unlink(missing_ok=True)
        odd = server | {"command": command, "args": []}
        await judge_relative_server(stage, odd, log)


async def judge_relative_server(stage: AgentStage, server: Message, log: Path) -> None:
    """A relative command is refused or reported.

    A message about the server's use does not count: a warning has to name the command, or to
    come before the server can be used.
    """
    talk = stage.talk
    since, before = len(talk.peer.frames), len(talk.program.stderr)
    params = {"cwd": str(talk.folder), "mcpServers": [server]}
    answer = await talk.call("session/new", params, timeout=talk.seconds)
    if "error" in answer:
        stage.judge.passed("V1-MCP-06")
        return
    await talk.peer.settled()
    early = talk.came(since=since)
    prompt = stage.scenario.prompt("mcp")
    session = str(answer["result"]["sessionId"])
    await talk.say(session, prompt or stage.scenario.prompt("say"))

    def warned() -> bool:
        logged = talk.program.stderr[before:].decode("utf-8", "replace")
        command = Path(server["command"]).name
        return server["name"] in early + logged or command in talk.came(since=since)

    await comes_true(talk, lambda: warned() or bool(asked_of(log)))
    if asked_of(log):
        said = "a server is started by a relative command, and nothing is said about that"
        stage.judge.judge("V1-MCP-06", warned(), said, sent=server)
    elif warned():
        stage.judge.passed("V1-MCP-06")
    elif stage.scenario.tries or prompt is None:
        stage.judge.close(f"nothing was reported{prompted_for_servers(stage)}", failing=False)
    else:
        said = "a server with a relative command is dropped, and nothing is said about that"
        stage.judge.failed("V1-MCP-06", said, sent=server)


@check("V1-MCP-04")
async def dead_servers_are_reported(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.session()
    server, _ = stage.mcp_server("accord-check-dead")
    server["command"] = str(stage.root / "no-such-program")
    await judge_odd_server(stage, "V1-MCP-04", server, "a dead server is skipped silently")


async def judge_odd_server(stage: AgentStage, rule: str, server: Message, said: str) -> None:
    """A server that cannot be started fails the session or is reported."""
    talk = stage.talk
    params = {"cwd": str(talk.folder), "mcpServers": [server]}
    answer = await talk.peer.call("session/new", params, timeout=talk.seconds)
    if "error" in answer:
        stage.judge.passed(rule)
        return
    session = str(answer["result"]["sessionId"])
    prompt = stage.scenario.prompt("mcp")
    await talk.say(session, prompt or stage.scenario.prompt("say"))
    name = str(server["name"])

    def told() -> bool:
        return name in talk.came() + talk.program.stderr.decode("utf-8", "replace")

    if not await comes_true(talk, told) and (stage.scenario.tries or prompt is None):
        stage.judge.close(f"nothing was reported{prompted_for_servers(stage)}", failing=False)
        return
    stage.judge.judge(rule, told(), said, sent=server)
