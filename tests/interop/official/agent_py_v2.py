"""An agent on the official Python SDK 1.0.0rc (ACP v2) that does what its prompt says.

The commands are listed in tests/interop/README.md; every scripted agent here knows the same ones.
In v2 an agent works on its own files and terminals, and a mode is a config option.
"""

from __future__ import annotations

import asyncio
import base64
import difflib
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp import RequestError
from acp.experimental import v2
from acp.experimental.v2 import schema

Json = dict[str, Any]
CHOICES = {"mode": ("ask", "code"), "model": ("small", "large")}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CAPABILITIES = {"session": {"prompt": {"image": {}, "embeddedContext": {}}, "delete": {}}}
PERMISSION_KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


@dataclass
class Session:
    session_id: str
    cwd: str
    values: Json = field(
        default_factory=lambda: {"mode": "ask", "model": "small", "verbose": False}
    )
    history: list[Json] = field(default_factory=list)
    made: int = 0
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def config(self) -> list[Json]:
        selects = [
            {
                "type": "select",
                "configId": key,
                "name": key.title(),
                "category": key,
                "currentValue": self.values[key],
                "options": [{"value": choice, "name": choice.title()} for choice in choices],
            }
            for key, choices in CHOICES.items()
        ]
        verbose = {"type": "boolean", "configId": "verbose", "name": "Verbose"}
        return [*selects, {**verbose, "currentValue": self.values["verbose"]}]

    def path(self, name: str) -> Path:
        return Path(self.cwd, name)

    def new_id(self, kind: str) -> str:
        self.made += 1
        return f"{kind}-{self.made}"


class ScriptedAgent:
    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.client: Any = None
        self.turns: set[asyncio.Task[None]] = set()
        self.commands: dict[str, Callable[[Session, str], Awaitable[str | None]]] = {
            "say": self.say,
            "stream": self.stream,
            "think": self.think,
            "plan": self.plan,
            "tool": self.tool,
            "edit": self.edit,
            "permission": self.permission,
            "terminal": self.terminal,
            "kill": self.kill,
            "read": self.read,
            "write": self.write,
            "mode": self.change_mode,
            "config": self.change_config,
            "usage": self.usage,
            "title": self.title,
            "commands": self.announce_commands,
            "long": self.long,
            "refuse": self.refuse,
            "fail": self.fail,
            "blocks": self.say,
            "form": self.form,
            "echo": self.echo,
        }

    # What the protocol asks of an agent.

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=2,
            info=schema.Implementation(name="official-py-v2", version="1.0.0"),
            capabilities=schema.AgentCapabilities.model_validate(CAPABILITIES),
            auth_methods=[schema.AgentAuthMethod(type="agent", method_id="key", name="Key")],
        )

    async def new_session(self, cwd: str, **_: Any) -> Json:
        session = Session(f"session-{len(self.sessions) + 1}", cwd)
        self.sessions[session.session_id] = session
        return {"sessionId": session.session_id, "configOptions": session.config}

    async def resume_session(self, session_id: str, replay_from: Any = None, **_: Any) -> Json:
        session = self.find(session_id)
        for update in session.history if replay_from is not None else ():
            await self.send(session, update)
        await self.send(session, {"sessionUpdate": "state_update", "state": "idle"})
        return {"configOptions": session.config}

    async def list_sessions(self, **_: Any) -> Json:
        return {
            "sessions": [{"sessionId": s.session_id, "cwd": s.cwd} for s in self.sessions.values()]
        }

    async def close_session(self, session_id: str, **_: Any) -> Json:
        self.find(session_id).cancelled.set()
        return {}

    async def set_config_option(
        self, session_id: str, config_id: str, value: Any, **_: Any
    ) -> Json:
        session = self.find(session_id)
        if value not in CHOICES.get(config_id, (True, False)):
            raise RequestError.invalid_params({"configId": config_id})
        session.values[config_id] = value
        return {"configOptions": session.config}

    async def delete_session(self, session_id: str, **_: Any) -> Json:
        self.sessions.pop(session_id, None)
        return {}

    async def login(self, method_id: str, **_: Any) -> Json:
        if method_id != "key":
            raise RequestError.invalid_params({"methodId": method_id})
        return {}

    async def handle_extension_request(self, _method: str, params: Json) -> Json:
        return params

    async def cancel_session(self, session_id: str, **_: Any) -> None:
        self.find(session_id).cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        session = self.find(session_id)
        session.cancelled.clear()
        verb, _, argument = prompt[0].text.partition(" ")
        if verb == "blocks":
            argument = " ".join(block.type for block in prompt)
        if verb not in self.commands:
            raise RequestError.invalid_params({"command": verb})
        message = session.new_id("message")
        content = [block.model_dump(by_alias=True, exclude_none=True) for block in prompt]
        echo = {"sessionUpdate": "user_message", "messageId": message, "content": content}
        session.history.append(echo)
        await self.send(session, echo)
        turn = asyncio.create_task(self.work(session, verb, argument))
        self.turns.add(turn)
        turn.add_done_callback(self.turns.discard)
        return schema.PromptResponse(message_id=message)

    async def work(self, session: Session, verb: str, argument: str) -> None:
        await self.send(session, {"sessionUpdate": "state_update", "state": "running"})
        try:
            stop = await self.commands[verb](session, argument) or "end_turn"
        except (OSError, RequestError):
            # The prompt is inserted: what breaks from here on is a stop reason, never an error.
            stop = "error"
        idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": stop}
        await self.send(session, idle)

    # The commands.

    async def say(self, session: Session, text: str) -> None:
        message = session.new_id("message")
        content = [{"type": "text", "text": text}]
        update = {"sessionUpdate": "agent_message", "messageId": message, "content": content}
        session.history.append(update)
        await self.send(session, update)

    async def stream(self, session: Session, count: str) -> None:
        message = session.new_id("message")
        for number in range(int(count)):
            update = message_chunk("agent_message_chunk", message, f"{number} ")
            session.history.append(update)
            await self.send(session, update)

    async def think(self, session: Session, text: str) -> None:
        thought = session.new_id("message")
        await self.send(session, message_chunk("agent_thought_chunk", thought, text))

    async def plan(self, session: Session, _: str) -> None:
        for status in ("in_progress", "completed"):
            entries = [
                {"content": "Look", "priority": "high", "status": status},
                {"content": "Leap", "priority": "low", "status": "pending"},
            ]
            plan = {"type": "items", "planId": "plan-1", "entries": entries}
            await self.send(session, {"sessionUpdate": "plan_update", "plan": plan})

    async def tool(self, session: Session, _: str) -> None:
        call = await self.announce(
            session,
            title="Search the code",
            kind="search",
            rawInput={"query": "needle"},
            locations=[{"path": str(session.path("hay.py")), "line": 3}],
        )
        await self.progress(session, call, status="in_progress")
        found = {"type": "content", "content": {"type": "text", "text": "1 match"}}
        chunk = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call, "content": found}
        await self.send(session, chunk)
        await self.progress(session, call, status="completed", rawOutput={"matches": 1})

    async def edit(self, session: Session, argument: str) -> None:
        name, _, text = argument.partition(" ")
        path = session.path(name)
        diff = {
            "type": "diff",
            "changes": [{"operation": "modify", "path": str(path), "fileType": "text"}],
            "patch": {"format": "git_patch", "text": git_patch(path, text)},
        }
        places = [{"path": str(path)}]
        call = await self.announce(
            session, title=f"Edit {name}", kind="edit", content=[diff], locations=places
        )
        option = await self.ask(session, call)
        if option is None or not option.startswith("allow"):
            await self.progress(session, call, status="cancelled")
            return await self.say(session, "not edited")
        await self.progress(session, call, status="in_progress")
        path.write_text(text, "utf-8")
        await self.progress(session, call, status="completed")
        return await self.say(session, "edited")

    async def permission(self, session: Session, _: str) -> str | None:
        call = await self.announce(session, title="Deploy", kind="execute")
        option = await self.ask(session, call)
        await self.say(session, f"permission {option or 'cancelled'}")
        allowed = option is not None and option.startswith("allow")
        await self.progress(session, call, status="completed" if allowed else "cancelled")
        return "cancelled" if option is None else None

    async def terminal(self, session: Session, line: str) -> None:
        terminal, process = await self.open_terminal(session, line)
        content = [{"type": "terminal", "terminalId": terminal}]
        call = await self.announce(session, title=line, kind="execute", content=content)
        output = (await process.communicate())[0]
        chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal}
        await self.send(session, {**chunk, "data": base64.b64encode(output).decode()})
        await self.report_exit(session, terminal, process)
        await self.progress(session, call, status="completed")
        text = f"exit={process.returncode} output={output.decode().strip()}"
        await self.say(session, text)

    async def kill(self, session: Session, line: str) -> None:
        terminal, process = await self.open_terminal(session, line)
        process.kill()
        await process.wait()
        await self.report_exit(session, terminal, process)
        await self.say(session, f"killed={process.returncode != 0}")

    async def read(self, session: Session, name: str) -> None:
        await self.say(session, session.path(name).read_text("utf-8"))

    async def write(self, session: Session, argument: str) -> None:
        name, _, text = argument.partition(" ")
        session.path(name).write_text(text, "utf-8")
        await self.say(session, "written")

    async def change_mode(self, session: Session, mode: str) -> None:
        await self.change_config(session, f"mode {mode}")

    async def change_config(self, session: Session, argument: str) -> None:
        key, value = argument.split()
        await self.set_config_option(session.session_id, key, value)
        update = {"sessionUpdate": "config_option_update", "configOptions": session.config}
        await self.send(session, update)

    async def usage(self, session: Session, _: str) -> None:
        cost = {"amount": 0.5, "currency": "USD"}
        update = {"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": cost}
        await self.send(session, update)

    async def title(self, session: Session, text: str) -> None:
        await self.send(session, {"sessionUpdate": "session_info_update", "title": text})

    async def announce_commands(self, session: Session, _: str) -> None:
        hint = {"type": "text", "hint": "file"}
        commands = [{"name": "run", "description": "Run a file", "input": hint}]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        await self.send(session, update)

    async def long(self, session: Session, _: str) -> str:
        await self.say(session, "working")
        await session.cancelled.wait()
        return "cancelled"

    async def refuse(self, _session: Session, _: str) -> str:
        return "refusal"

    async def fail(self, _session: Session, _: str) -> str:
        return "error"

    async def form(self, session: Session, _: str) -> None:
        wanted = schema.ElicitationSchema.model_validate(FORM)
        sent = self.client.create_elicitation(
            "Who?", "form", session_id=session.session_id, requested_schema=wanted
        )
        answer = (await sent).model_dump(mode="json")
        values = (answer.get("content") or {}).values()
        await self.say(session, " ".join(["form", answer["action"], *values]))

    async def echo(self, session: Session, value: str) -> None:
        answer = await self.client.send_extension_request("_interop/echo", {"value": value})
        await self.say(session, f"echo {answer['value']}")

    # Parts of the commands.

    def find(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise RequestError.resource_not_found(session_id)
        return self.sessions[session_id]

    async def send(self, session: Session, update: Json) -> None:
        whole = {"sessionId": session.session_id, "update": update}
        typed = schema.UpdateSessionNotification.model_validate(whole)
        await self.client.session_update(session_id=session.session_id, update=typed.update)

    async def announce(self, session: Session, **fields: Any) -> str:
        call = session.new_id("call")
        await self.progress(session, call, status="pending", **fields)
        return call

    async def progress(self, session: Session, call: str, **fields: Any) -> None:
        await self.send(
            session, {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields}
        )

    async def ask(self, session: Session, call: str) -> str | None:
        await self.send(session, {"sessionUpdate": "state_update", "state": "requires_action"})
        answer = await self.client.request_permission(
            session_id=session.session_id,
            title="May I?",
            options=[
                schema.PermissionOption(option_id=k, name=k, kind=k) for k in PERMISSION_KINDS
            ],
            description="Because the prompt said so",
            subject=schema.ToolCallPermissionSubjectVariant(
                type="tool_call", tool_call=schema.ToolCallUpdate(tool_call_id=call)
            ),
        )
        await self.send(session, {"sessionUpdate": "state_update", "state": "running"})
        return getattr(answer.outcome, "option_id", None)

    async def open_terminal(
        self, session: Session, line: str
    ) -> tuple[str, asyncio.subprocess.Process]:
        terminal = session.new_id("terminal")
        update = {"sessionUpdate": "terminal_update", "terminalId": terminal}
        await self.send(session, {**update, "command": line, "cwd": session.cwd})
        process = await asyncio.create_subprocess_exec(
            *shlex.split(line),
            cwd=session.cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        return terminal, process

    async def report_exit(
        self, session: Session, terminal: str, process: asyncio.subprocess.Process
    ) -> None:
        code = process.returncode or 0
        status = {"exitCode": code} if code >= 0 else {"signal": str(-code)}
        update = {"sessionUpdate": "terminal_update", "terminalId": terminal}
        await self.send(session, {**update, "exitStatus": status})


def message_chunk(kind: str, message: str, text: str) -> Json:
    content = {"type": "text", "text": text}
    return {"sessionUpdate": kind, "messageId": message, "content": content}


def git_patch(path: Path, text: str) -> str:
    old = path.read_text("utf-8").splitlines(keepends=True)
    lines = difflib.unified_diff(old, text.splitlines(keepends=True), str(path), str(path))
    return f"diff --git {path} {path}\n" + "".join(lines)


if __name__ == "__main__":
    asyncio.run(v2.run_agent(ScriptedAgent()))
