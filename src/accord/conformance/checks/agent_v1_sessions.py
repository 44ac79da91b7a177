"""Checks of a v1 agent's sessions: making, roots, system prompts, MCP servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from accord.conformance.agent_stage import AgentStage, Talk
from accord.conformance.check import check
from accord.conformance.host import choosing

SESSIONS = 20
ROOTS = "sessionCapabilities.additionalDirectories"
MCP_SECONDS = 5.0


async def listed(talk: Talk, **filters: Any) -> list[dict[str, Any]]:
    """All sessions, page by page, at most a hundred pages."""
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


@check("V1-SESS-02", basic=True)
async def session_ids_differ(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    ids = [(await talk.new_session()).get("sessionId") for _ in range(SESSIONS)]
    ok = len({json.dumps(one) for one in ids}) == SESSIONS and all(isinstance(i, str) for i in ids)
    stage.judge.judge("V1-SESS-02", ok, "ids of sessions repeat or are no strings", came=ids)


@check("V1-SESS-10", "V1-SESS-20", "V1-SESS-19")
async def bad_roots_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can(ROOTS):
        stage.judge.skip_open("the agent has no additional directories")
        return
    can_list = talk.can("sessionCapabilities.list")
    before = len(await listed(talk)) if can_list else 0
    base = {"cwd": str(talk.folder), "mcpServers": []}
    for bad in ("x", [5], [""], ["relative"]):
        params = base | {"additionalDirectories": bad}
        error = await talk.error_of("session/new", params)
        ok = bool(error)
        stage.judge.judge("V1-SESS-10", ok, f"{bad!r} is taken", sent=params, came=error)
    if can_list:
        after = len(await listed(talk))
        stage.judge.judge("V1-SESS-10", after == before, "a refused session was made")
    answer = await talk.peer.call("session/new", base)
    stage.judge.judge("V1-SESS-20", "result" in answer, "without roots no session", came=answer)
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
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("where") or "")
    shown = talk.came() + "".join(one.output.decode() for one in talk.host.terminals.values())
    ok = str(talk.folder) in shown
    stage.judge.judge("V1-SESS-03", ok, "the command did not run in the session's cwd")


@check("V1-SESS-05", "V1-SESS-04", "V1-SESS-12", needs="read")
async def relative_names_are_of_the_folder(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    roots = {}
    other = stage.root / "other"
    if talk.can(ROOTS):
        other.mkdir()
        (other / "notes.txt").write_text("of the other root\n", "utf-8")
        roots = {"additionalDirectories": [str(other)]}
        talk.host.roots.append(other)
    session = str((await talk.new_session(**roots))["sessionId"])
    await talk.prompt(session, stage.scenario.prompt("read") or "")
    text = stage.scenario.files["notes.txt"].strip()
    seen = text in talk.said() or text in talk.came() or bool(talk.host.read)
    stage.judge.judge("V1-SESS-05", seen, "a file in cwd was not read", came=talk.said())
    if roots:
        ok = seen and "of the other root" not in talk.came()
        stage.judge.judge("V1-SESS-04", ok, "the file of another root was read")
        prompt = (stage.scenario.prompt("read") or "").replace("notes.txt", f"{other}/notes.txt")
        asked = len(talk.peer.received("session/request_permission"))
        await talk.prompt(session, prompt)
        ok = "of the other root" in talk.came() or str(other / "notes.txt") in talk.came()
        ok = ok and len(talk.peer.received("session/request_permission")) == asked
        stage.judge.judge("V1-SESS-12", ok, "a file under a root is not in scope")


@check("V1-SESS-13", "V1-SESS-18", needs="link")
async def links_do_not_lead_out(stage: AgentStage) -> None:
    talk = stage.talk
    # A client without files: what is read, the agent reads by itself.
    await talk.initialize(clientCapabilities={})
    session = str((await talk.new_session())["sessionId"])
    talk.host.permission = choosing("reject")
    prompt = stage.scenario.prompt("link") or ""
    await talk.prompt(session, prompt)
    ok = "what-is-outside" not in talk.came()
    stage.judge.judge("V1-SESS-13", ok, "a link out of the root was followed", sent=prompt)
    up = prompt.replace("link.txt", "../secret.txt")
    absolute = prompt.replace("link.txt", f"{talk.folder}/../secret.txt")
    for text in (up, absolute):
        await talk.prompt(session, text)
    ok = "what-is-outside" not in talk.came()
    stage.judge.judge("V1-SESS-18", ok, "a path with .. led out of the root", sent=[up, absolute])


@check("V1-SESS-06", needs="outside")
async def nothing_is_written_outside_unasked(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize(clientCapabilities={})
    session = str((await talk.new_session())["sessionId"])
    talk.host.permission = choosing("reject")
    await talk.prompt(session, stage.scenario.prompt("outside") or "")
    ok = not (stage.root / "outside.txt").exists()
    stage.judge.judge("V1-SESS-06", ok, "a file outside of the roots was written unasked")


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
        stage.judge.judge("V1-SESS-25", bool(error), "it is taken", sent=params, came=error)


def asked_of(log: Path) -> list[dict[str, Any]]:
    """What the recording MCP server was asked so far."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


async def wait_for_server(log: Path, method: str) -> bool:
    """Whether the server is asked this within a bound."""
    return await comes_true(lambda: any(one.get("method") == method for one in asked_of(log)))


async def comes_true(seen: Callable[[], bool]) -> bool:
    """Whether something that other programs do is seen within a bound."""
    with anyio.move_on_after(MCP_SECONDS):
        while not seen():  # noqa: ASYNC110 - nothing here is told when it happens
            await anyio.sleep(0.05)
    return seen()


@check("V1-MCP-01", "V1-MCP-04")
async def stdio_servers_are_connected(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    first, first_log = stage.mcp_server()
    second, second_log = stage.mcp_server("accord-check-2")
    session = str((await talk.new_session(mcpServers=[first, second]))["sessionId"])
    # Some agents connect with the first prompt only.
    await talk.say(session, stage.scenario.prompt("mcp") or stage.scenario.prompt("say"))
    ok = await wait_for_server(first_log, "initialize")
    if not ok and stage.scenario.prompt("mcp") is None:
        stage.judge.close("no server was connected: a prompt for 'mcp' would tell", failing=False)
        return
    stage.judge.judge("V1-MCP-01", ok, "a stdio server was never asked to initialize", sent=first)
    if ok:
        given = asked_of(first_log)[0].get("token")
        said = "the server did not get its environment"
        stage.judge.judge("V1-MCP-01", given == "s3cr3t-of-the-server", said, sent=first)
    ok = ok and await wait_for_server(second_log, "initialize")
    stage.judge.judge("V1-MCP-04", ok, "not every listed server was connected", sent=second)


@check("V1-MCP-06")
async def commands_of_servers_are_absolute(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    server, log = stage.mcp_server()
    server["command"] = "./accord-check-relative"
    answer = await talk.peer.call(
        "session/new", {"cwd": str(talk.folder), "mcpServers": [server]}, timeout=talk.seconds
    )
    told = "error" in answer or await comes_true(
        lambda: bool(talk.program.stderr) or bool(talk.updates())
    )
    stage.judge.judge("V1-MCP-06", told and not log.exists(), "taken silently", came=answer)


@check("V1-MCP-04")
async def dead_servers_are_reported(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    server, _ = stage.mcp_server("accord-check-dead")
    server["command"] = str(stage.root / "no-such-program")
    params = {"cwd": str(talk.folder), "mcpServers": [server]}
    answer = await talk.peer.call("session/new", params, timeout=talk.seconds)
    if "error" in answer:
        stage.judge.passed("V1-MCP-04")
        return
    session = str(answer["result"]["sessionId"])
    prompt = stage.scenario.prompt("mcp")
    await talk.say(session, prompt or stage.scenario.prompt("say"))
    told = await comes_true(
        lambda: "accord-check-dead" in talk.came() + talk.program.stderr.decode("utf-8", "replace")
    )
    if not told and prompt is None:
        stage.judge.close("nothing was told: a prompt for 'mcp' would tell", failing=False)
        return
    stage.judge.judge("V1-MCP-04", told, "a dead server is skipped silently", sent=server)
