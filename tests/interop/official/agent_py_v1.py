"""An agent on the official Python SDK 0.12 (ACP v1) that does what its prompt says.

The commands are listed in tests/interop/README.md; every scripted agent here knows the same ones.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp
from acp import schema

Json = dict[str, Any]
MODES = {"ask": "Ask", "code": "Code"}
MODELS = {"small": "Small", "large": "Large"}
PERMISSION_KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
TERMINAL_OUTPUT_BYTES = 65536
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@dataclass
class Session:
    session_id: str
    cwd: str
    mode: str = "ask"
    model: str = "small"
    history: list[Json] = field(default_factory=list)
    calls: int = 0
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def modes(self) -> schema.SessionModeState:
        available = [schema.SessionMode(id=key, name=name) for key, name in MODES.items()]
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=available)

    @property
    def config(self) -> list[Any]:
        options = [schema.SessionConfigSelectOption(value=k, name=v) for k, v in MODELS.items()]
        return [
            schema.SessionConfigOptionSelect(
                id="model",
                name="Model",
                category="model",
                type="select",
                current_value=self.model,
                options=options,
            )
        ]

    def path(self, name: str) -> str:
        return str(Path(self.cwd, name))


class ScriptedAgent:
    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.client: Any = None
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
            protocol_version=1,
            agent_info=schema.Implementation(name="official-py-v1", version="1.0.0"),
            auth_methods=[schema.AuthMethodAgent(id="key", name="Key")],
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        session = Session(f"session-{len(self.sessions) + 1}", cwd)
        self.sessions[session.session_id] = session
        return schema.NewSessionResponse(
            session_id=session.session_id, modes=session.modes, config_options=session.config
        )

    async def load_session(self, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        session = self.find(session_id)
        for update in session.history:
            await self.send(session, update)
        return schema.LoadSessionResponse(modes=session.modes, config_options=session.config)

    async def resume_session(self, session_id: str, **_: Any) -> schema.ResumeSessionResponse:
        session = self.find(session_id)
        return schema.ResumeSessionResponse(modes=session.modes, config_options=session.config)

    async def list_sessions(self, **_: Any) -> schema.ListSessionsResponse:
        infos = [
            schema.SessionInfo(session_id=s.session_id, cwd=s.cwd) for s in self.sessions.values()
        ]
        return schema.ListSessionsResponse(sessions=infos)

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        self.find(session_id).cancelled.set()
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        await self.change_mode(self.find(session_id), mode_id)
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, session_id: str, config_id: str, value: str, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        session = self.find(session_id)
        if config_id != "model" or value not in MODELS:
            raise acp.RequestError.invalid_params({"configId": config_id})
        session.model = value
        return schema.SetSessionConfigOptionResponse(config_options=session.config)

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        if method_id != "key":
            raise acp.RequestError.invalid_params({"methodId": method_id})
        return schema.AuthenticateResponse()

    async def ext_method(self, method: str, params: Json) -> Json:
        return params

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.find(session_id).cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        session = self.find(session_id)
        session.cancelled.clear()
        text = prompt[0].text
        session.history.append(message_chunk("user_message_chunk", text))
        verb, _, argument = text.partition(" ")
        if verb == "blocks":
            argument = " ".join(block.type for block in prompt)
        if verb not in self.commands:
            raise acp.RequestError.invalid_params({"command": verb})
        stop = await self.commands[verb](session, argument)
        return schema.PromptResponse(stop_reason=stop or "end_turn")

    # The commands.

    async def say(self, session: Session, text: str) -> None:
        update = message_chunk("agent_message_chunk", text)
        session.history.append(update)
        await self.send(session, update)

    async def stream(self, session: Session, count: str) -> None:
        for number in range(int(count)):
            await self.say(session, f"{number} ")

    async def think(self, session: Session, text: str) -> None:
        await self.send(session, message_chunk("agent_thought_chunk", text))

    async def plan(self, session: Session, _: str) -> None:
        for status in ("in_progress", "completed"):
            entries = [
                {"content": "Look", "priority": "high", "status": status},
                {"content": "Leap", "priority": "low", "status": "pending"},
            ]
            await self.send(session, {"sessionUpdate": "plan", "entries": entries})

    async def tool(self, session: Session, _: str) -> None:
        call = await self.announce(
            session,
            title="Search the code",
            kind="search",
            rawInput={"query": "needle"},
            locations=[{"path": session.path("hay.py"), "line": 3}],
        )
        await self.progress(session, call, status="in_progress")
        found = {"type": "content", "content": {"type": "text", "text": "1 match"}}
        await self.progress(
            session, call, status="completed", content=[found], rawOutput={"matches": 1}
        )

    async def edit(self, session: Session, argument: str) -> None:
        name, _, text = argument.partition(" ")
        path = session.path(name)
        old = (await self.client.read_text_file(session_id=session.session_id, path=path)).content
        diff = {"type": "diff", "path": path, "oldText": old, "newText": text}
        call = await self.announce(
            session, title=f"Edit {name}", kind="edit", content=[diff], locations=[{"path": path}]
        )
        option = await self.ask(session, call)
        if option is None or not option.startswith("allow"):
            await self.progress(session, call, status="failed")
            return await self.say(session, "not edited")
        await self.progress(session, call, status="in_progress")
        await self.client.write_text_file(session_id=session.session_id, path=path, content=text)
        await self.progress(session, call, status="completed")
        return await self.say(session, "edited")

    async def permission(self, session: Session, _: str) -> str | None:
        call = await self.announce(session, title="Deploy", kind="execute")
        option = await self.ask(session, call)
        await self.say(session, f"permission {option or 'cancelled'}")
        allowed = option is not None and option.startswith("allow")
        await self.progress(session, call, status="completed" if allowed else "failed")
        return "cancelled" if option is None else None

    async def terminal(self, session: Session, line: str) -> None:
        command, *arguments = shlex.split(line)
        ids = await self.open_terminal(session, command, arguments)
        content = [{"type": "terminal", "terminalId": ids["terminal_id"]}]
        call = await self.announce(session, title=line, kind="execute", content=content)
        done = await self.client.wait_for_terminal_exit(**ids)
        output = await self.client.terminal_output(**ids)
        await self.progress(session, call, status="completed")
        await self.client.release_terminal(**ids)
        await self.say(session, f"exit={done.exit_code} output={output.output.strip()}")

    async def kill(self, session: Session, line: str) -> None:
        command, *arguments = shlex.split(line)
        ids = await self.open_terminal(session, command, arguments)
        await self.client.kill_terminal(**ids)
        done = await self.client.wait_for_terminal_exit(**ids)
        await self.client.release_terminal(**ids)
        await self.say(session, f"killed={done.exit_code != 0}")

    async def read(self, session: Session, name: str) -> None:
        path = session.path(name)
        answer = await self.client.read_text_file(session_id=session.session_id, path=path)
        await self.say(session, answer.content)

    async def write(self, session: Session, argument: str) -> None:
        name, _, text = argument.partition(" ")
        path = session.path(name)
        await self.client.write_text_file(session_id=session.session_id, path=path, content=text)
        await self.say(session, "written")

    async def change_mode(self, session: Session, mode: str) -> None:
        if mode not in MODES:
            raise acp.RequestError.invalid_params({"modeId": mode})
        session.mode = mode
        await self.send(session, {"sessionUpdate": "current_mode_update", "currentModeId": mode})

    async def change_config(self, session: Session, argument: str) -> None:
        key, value = argument.split()
        answer = await self.set_config_option(session.session_id, key, value)
        options = [option.model_dump(by_alias=True) for option in answer.config_options]
        await self.send(
            session, {"sessionUpdate": "config_option_update", "configOptions": options}
        )

    async def usage(self, session: Session, _: str) -> None:
        cost = {"amount": 0.5, "currency": "USD"}
        update = {"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": cost}
        await self.send(session, update)

    async def title(self, session: Session, text: str) -> None:
        await self.send(session, {"sessionUpdate": "session_info_update", "title": text})

    async def announce_commands(self, session: Session, _: str) -> None:
        commands = [{"name": "run", "description": "Run a file", "input": {"hint": "file"}}]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        await self.send(session, update)

    async def long(self, session: Session, _: str) -> str:
        await self.say(session, "working")
        await session.cancelled.wait()
        return "cancelled"

    async def refuse(self, _session: Session, _: str) -> str:
        return "refusal"

    async def fail(self, _session: Session, text: str) -> None:
        raise acp.RequestError(-32603, text or "failed on request")

    async def form(self, session: Session, _: str) -> None:
        mode = schema.ElicitationFormSessionMode.model_validate(
            {"sessionId": session.session_id, "requestedSchema": FORM}
        )
        answer = (await self.client.create_elicitation("Who?", mode)).model_dump(mode="json")
        values = (answer.get("content") or {}).values()
        await self.say(session, " ".join(["form", answer["action"], *values]))

    async def echo(self, session: Session, value: str) -> None:
        answer = await self.client.ext_method("interop/echo", {"value": value})
        await self.say(session, f"echo {answer['value']}")

    # Parts of the commands.

    def find(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise acp.RequestError.resource_not_found(session_id)
        return self.sessions[session_id]

    async def send(self, session: Session, update: Json) -> None:
        whole = {"sessionId": session.session_id, "update": update}
        typed = schema.SessionNotification.model_validate(whole)
        await self.client.session_update(session_id=session.session_id, update=typed.update)

    async def announce(self, session: Session, **fields: Any) -> str:
        session.calls += 1
        call = f"call-{session.calls}"
        fields = {"sessionUpdate": "tool_call", "toolCallId": call, "status": "pending", **fields}
        await self.send(session, fields)
        return call

    async def progress(self, session: Session, call: str, **fields: Any) -> None:
        await self.send(
            session, {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields}
        )

    async def ask(self, session: Session, call: str) -> str | None:
        options = [schema.PermissionOption(option_id=k, name=k, kind=k) for k in PERMISSION_KINDS]
        answer = await self.client.request_permission(
            session_id=session.session_id,
            tool_call=schema.ToolCallUpdate(tool_call_id=call),
            options=options,
        )
        return getattr(answer.outcome, "option_id", None)

    async def open_terminal(self, session: Session, command: str, arguments: list[str]) -> Json:
        made = await self.client.create_terminal(
            session_id=session.session_id,
            command=command,
            args=arguments,
            cwd=session.cwd,
            output_byte_limit=TERMINAL_OUTPUT_BYTES,
        )
        return {"session_id": session.session_id, "terminal_id": made.terminal_id}


def message_chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


if __name__ == "__main__":
    asyncio.run(acp.run_agent(ScriptedAgent(), use_unstable_protocol=True))
