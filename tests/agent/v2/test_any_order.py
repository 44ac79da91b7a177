"""A client that does anything at any time sees an agent of v2 that keeps all of its rules."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.agent import Turn
from accord.store import MemoryStore
from tests.agent.raw_client import OPEN, RawClient
from tests.agent.v2.invariants import check
from tests.agent.v2.play import chosen, made, playing, text
from tests.hang_limit import HANG_SECONDS

PROMPTS = ("say", "wait", "ask", "ask twice", "run", "start", "fail")


async def work(turn: Turn) -> None:
    """Whatever the prompt names."""
    await turn.say(turn.text)
    match turn.text:
        case "wait":
            async with turn.tool_call("Wait", kind="think", cancellable=True):
                await anyio.sleep_forever()
        case "ask":
            await ask(turn)
        case "ask twice":
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, turn)
                tasks.start_soon(ask, turn)
        case "run":
            await turn.run("echo up; exec sleep 60")
        case "start":
            await turn.start("echo up; exec sleep 60")
        case "fail":
            raise ValueError("as asked")


async def ask(turn: Turn) -> None:
    """A tool that needs a yes."""
    async with turn.tool_call("Edit", kind="edit", cancellable=True) as call:
        if await call.ask("May I?"):
            await call.start()


class Player:
    """Takes actions by name, and remembers what it asked."""

    def __init__(self, client: RawClient) -> None:
        self.client = client
        self.requests: dict[Any, str] = {1: "initialize"}
        self.sessions: list[str] = []
        client.serve["session/request_permission"] = self._decide

    def _decide(self, params: dict[str, Any]) -> Any:
        is_command = params["subject"]["type"] == "command"
        return chosen("allow_once") if is_command else OPEN

    def start(self, method: str, params: Any) -> Any:
        """Send a request."""
        request_id = self.client.start(method, params)
        self.requests[request_id] = method
        return request_id

    async def new(self) -> None:
        """One more session."""
        answer = await self.client.answer(self.start("session/new", {"cwd": "/tmp"}))
        self.sessions.append(answer["result"]["sessionId"])

    async def act(self, action: str, number: int) -> None:
        """One action on one of the sessions; what is not there to be acted on is left out."""
        client = self.client
        session_id = self.sessions[number % len(self.sessions)]
        scope = {"sessionId": session_id}
        match action:
            case "look":
                await anyio.wait_all_tasks_blocked()
            case "cancel":
                client.notify("session/cancel", scope)
            case "close":
                self.start("session/close", scope)
            case "resume":
                self.start("session/resume", {**scope, "cwd": "/tmp"})
            case "withdraw":
                client.notify("$/cancel_request", {"requestId": max(self.requests) - number})
            case "allow" | "reject" | "dismiss":
                self._answer(action)
            case "stop call" | "stop terminal":
                self._stop(action, scope)
            case _:
                self.start("session/prompt", {**scope, "prompt": text(action)})

    def _answer(self, action: str) -> None:
        asked = [f for f in self.client.unread if f.get("method") == "session/request_permission"]
        if asked:
            self.client.unread.remove(asked[0])
            answers = {"allow": chosen("allow_once"), "reject": chosen("reject_once")}
            self.client.reply(asked[0], answers.get(action, {"outcome": {"outcome": "cancelled"}}))

    def _stop(self, action: str, scope: dict[str, Any]) -> None:
        key = "toolCallId" if action == "stop call" else "terminalId"
        known = [update[key] for update in self.client.updates() if key in update]
        if known:
            method = "tool_call/cancel" if action == "stop call" else "terminal/cancel"
            self.start(method, {**scope, key: known[-1]})

    async def end(self) -> None:
        """Close everything and wait for every answer."""
        for session_id in self.sessions:
            self.start("session/close", {"sessionId": session_id})
        for request_id in self.requests:
            if not any(f.get("id") == request_id and "method" not in f for f in self.client.frames):
                await self.client.answer(request_id)
        await anyio.wait_all_tasks_blocked()


ACTIONS = st.sampled_from(
    (
        *PROMPTS,
        *("look", "look", "look", "cancel", "close", "resume", "withdraw"),
        *("allow", "reject", "dismiss", "stop call", "stop terminal"),
    )
)


async def play(script: list[tuple[str, int]]) -> None:
    """A whole connection, and then another that is told the past of it."""
    store = MemoryStore()
    with anyio.fail_after(HANG_SECONDS):
        async with playing(made(work, store=store)) as client:
            player = Player(client)
            await player.new()
            await player.new()
            for action, number in script:
                await player.act(action, number)
            await player.end()
            check(client, player.requests)
        async with playing(made(work, store=store)) as reader:
            for session_id in player.sessions:
                params = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": {"type": "start"}}
                if session_id in past(client):
                    await reader.result("session/resume", params)
                else:
                    # Nobody has talked in it.
                    error = await reader.error("session/resume", params)
                    assert error["code"] == -32002
    assert past(reader) == past(client)
    for session_id, things in past(reader).items():
        told = [f["params"]["update"] for f in reader.frames if scope_of(f) == session_id]
        calls = [one["toolCallId"] for one in told if "toolCallId" in one]
        assert sorted(calls) == sorted(key[1] for key, _ in things if key[0] == "toolCallId")


def scope_of(frame: Any) -> str | None:
    """The session that an update is of."""
    found: str | None = frame.get("params", {}).get("sessionId")
    return found if frame.get("method") == "session/update" else None


def past(client: RawClient) -> dict[str, list[tuple[tuple[str, str], dict[str, Any]]]]:
    """What each session has come to: everything that has an id, with all that was said of it.

    In order, the terminals last: what they print has no place of its own.  The states are of the
    moment, and no part of it.
    """
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for frame in client.frames:
        update = dict(frame["params"]["update"]) if scope_of(frame) else {}
        key = next((one for one in ("messageId", "toolCallId", "terminalId") if one in update), "")
        if not key:
            continue
        things = found.setdefault(frame["params"]["sessionId"], {})
        thing = things.setdefault((key, update[key]), {"printed": b""})
        kind = update.pop("sessionUpdate")
        if kind == "terminal_output_chunk":
            thing["printed"] += b64decode(update["data"])
        elif kind == "tool_call_content_chunk":
            thing["content"] = [*thing.get("content", ()), update["content"]]
        else:
            if "output" in update:
                thing["printed"] = b64decode(update.pop("output")["data"])
            thing |= {name: value for name, value in update.items() if value is not None}
            thing.pop("capabilities", None)
    return {
        session_id: sorted(things.items(), key=lambda one: one[0][0] == "terminalId")
        for session_id, things in found.items()
    }


@pytest.mark.rule("V2-PROMPT-05", "V2-PROMPT-22", "V2-PROMPT-23", "V2-CANCEL-14", "V2-CANCEL-19")
@pytest.mark.rule("V2-SESS-10", "V2-SESS-16")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(script=st.lists(st.tuples(ACTIONS, st.integers(0, 1)), max_size=14))
def test_any_order_of_actions_keeps_every_rule(backend: str, script: list[tuple[str, int]]) -> None:
    """Ours: the rules hold together, not only one by one."""
    anyio.run(play, script, backend=backend)
