"""A scripted client on the official Python SDK 0.12 (ACP v1).

    client_py_v1.py STEP... -- AGENT COMMAND...

The steps and what is printed are described in tests/interop/README.md.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema

from tests.interop.official.script import (
    EXIT_SECONDS,
    FORM_VALUES,
    Script,
    plain,
    print_report,
    remote_transport,
    remote_url,
    split_command,
)
from tests.interop.official.seen import Json, choose


class ScriptedClient(Script):
    failures = (acp.RequestError,)

    def __init__(self) -> None:
        super().__init__()
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.outputs: dict[str, asyncio.Task[bytes]] = {}

    # What the protocol asks of a client, besides taking updates.

    async def request_permission(
        self, tool_call: Any, options: list[Any], **_: Any
    ) -> schema.RequestPermissionResponse:
        offered = [plain(option) for option in options]
        chosen = choose(offered, self.answer)
        kinds = [option["kind"] for option in offered]
        self.seen.add(
            "permissions", {"tool": tool_call.tool_call_id, "kinds": kinds, "chosen": chosen}
        )
        if chosen is None:
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> schema.ReadTextFileResponse:
        self.seen.add("reads", path)
        lines = Path(path).read_text("utf-8").splitlines(keepends=True)
        first = max(line or 1, 1) - 1
        wanted = lines[first : None if limit is None else first + limit]
        return schema.ReadTextFileResponse(content="".join(wanted))

    async def write_text_file(self, path: str, content: str, **_: Any) -> Any:
        self.seen.add("writes", {"path": path, "content": content})
        Path(path).write_text(content, "utf-8")
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self, command: str, args: list[str] | None = None, cwd: str | None = None, **_: Any
    ) -> schema.CreateTerminalResponse:
        process = await asyncio.create_subprocess_exec(
            command,
            *(args or ()),
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        name = f"terminal-{len(self.processes) + 1}"
        assert process.stdout is not None
        self.processes[name] = process
        self.outputs[name] = asyncio.create_task(process.stdout.read())
        return schema.CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(self, terminal_id: str, **_: Any) -> Any:
        code = await self.processes[terminal_id].wait()
        return schema.WaitForTerminalExitResponse(**exit_fields(code))

    async def terminal_output(self, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        output = (await self.outputs[terminal_id]).decode()
        code = await self.processes[terminal_id].wait()
        self.seen.add("terminals", {"output": output, "exit": code})
        status = schema.TerminalExitStatus(**exit_fields(code))
        return schema.TerminalOutputResponse(output=output, truncated=False, exit_status=status)

    async def kill_terminal(self, terminal_id: str, **_: Any) -> schema.KillTerminalResponse:
        self.seen.add("killed", terminal_id)
        if self.processes[terminal_id].returncode is None:
            self.processes[terminal_id].kill()
        return schema.KillTerminalResponse()

    async def release_terminal(self, terminal_id: str, **_: Any) -> Any:
        self.seen.add("released", terminal_id)
        return schema.ReleaseTerminalResponse()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        wanted = list(plain(mode)["requestedSchema"]["properties"])
        self.seen.add("forms", {"message": message, "fields": wanted})
        if self.form_answer == "accept":
            return schema.AcceptElicitationResponse(action="accept", content=FORM_VALUES)
        return schema.DeclineElicitationResponse(action="decline")

    async def ext_method(self, method: str, params: Json) -> Json:
        return params

    # The steps.

    async def step_start(self, _: str) -> None:
        files = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        answer = await self.agent.initialize(
            protocol_version=1,
            client_capabilities=schema.ClientCapabilities(
                fs=files,
                terminal=True,
                elicitation=schema.ElicitationCapabilities(
                    form=schema.ElicitationFormCapabilities()
                ),
            ),
            client_info=schema.Implementation(name="official-py-v1", version="1.0.0"),
        )
        self.seen.facts |= {
            "version": answer.protocol_version,
            "agent": answer.agent_info and answer.agent_info.name,
            "capabilities": plain(answer).get("agentCapabilities", {}),
        }

    async def step_new(self, _: str) -> None:
        made = await self.agent.new_session(**self.place())
        self.session = made.session_id
        self.keep_state(made)

    async def send_prompt(self, blocks: list[Json]) -> None:
        whole = {"sessionId": self.session, "prompt": blocks}
        prompt = schema.PromptRequest.model_validate(whole).prompt
        answer = await self.agent.prompt(session_id=self.session, prompt=prompt)
        self.seen.facts["stop"] = answer.stop_reason

    async def send_cancel(self) -> None:
        await self.agent.cancel(session_id=self.session)

    async def step_mode(self, mode: str) -> None:
        await self.agent.set_session_mode(session_id=self.session, mode_id=mode)

    async def step_config(self, argument: str) -> None:
        key, value = argument.split("=")
        answer = await self.agent.set_config_option(
            session_id=self.session, config_id=key, value=value
        )
        self.keep_state(answer)

    async def step_load(self, _: str) -> None:
        answer = await self.agent.load_session(session_id=self.session, **self.place())
        self.keep_state(answer)

    async def step_resume(self, _: str) -> None:
        answer = await self.agent.resume_session(session_id=self.session, **self.place())
        self.keep_state(answer)

    async def step_list(self, _: str) -> None:
        answer = await self.agent.list_sessions()
        self.seen.facts["sessions"] = [info.session_id for info in answer.sessions]

    async def step_login(self, method_id: str) -> None:
        await self.agent.authenticate(method_id=method_id)

    async def step_echo(self, value: str) -> None:
        self.seen.facts["echo"] = await self.agent.ext_method("interop/echo", {"value": value})

    async def step_close(self, _: str) -> None:
        await self.agent.close_session(session_id=self.session)

    def place(self) -> Json:
        return {"cwd": os.getcwd(), "mcp_servers": []}

    def keep_state(self, answer: Any) -> None:
        if answer.config_options is not None:
            self.seen.keep_config([plain(option) for option in answer.config_options])
        if modes := getattr(answer, "modes", None):
            self.seen.facts["mode"] = modes.current_mode_id
            self.seen.facts["modes"] = [mode.id for mode in modes.available_modes]


def exit_fields(code: int) -> Json:
    return {"exit_code": code} if code >= 0 else {"signal": str(-code)}


async def main() -> None:
    steps, command = split_command(sys.argv[1:])
    client = ScriptedClient()
    if (url := remote_url(command)) is not None:
        client.agent = acp.connect_to_agent(
            client,
            await remote_transport(url),
            use_unstable_protocol=True,
            observers=[client.observe],
        )
        reports = await client.run(steps)
        await client.agent.close()
        print_report(reports, None)
        return
    async with acp.spawn_agent_process(
        client,
        *command,
        env=os.environ,
        transport_kwargs={"stderr": None, "shutdown_timeout": EXIT_SECONDS},
        use_unstable_protocol=True,
        observers=[client.observe],
    ) as (agent, process):
        client.agent = agent
        reports = await client.run(steps)
    print_report(reports, process.returncode)


if __name__ == "__main__":
    asyncio.run(main())
