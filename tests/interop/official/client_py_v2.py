"""A scripted client on the official Python SDK 1.0.0rc (ACP v2).

    client_py_v2.py STEP... -- AGENT COMMAND...

The steps and what is printed are described in tests/interop/README.md.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from typing import Any

import acp
from acp.experimental import v2
from acp.experimental.v2 import schema

from tests.interop.official.script import (
    ECHO,
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

    # What the protocol asks of a client, besides taking updates.

    async def request_permission(
        self, title: str, options: list[Any], subject: Any = None, **_: Any
    ) -> schema.RequestPermissionResponse:
        offered = [plain(option) for option in options]
        chosen = choose(offered, self.answer)
        kinds = [option["kind"] for option in offered]
        tool = plain(subject).get("toolCall", {}).get("toolCallId") if subject else None
        asked = {"title": title, "tool": tool, "kinds": kinds, "chosen": chosen}
        self.seen.add("permissions", asked)
        if chosen is None:
            outcome: Any = schema.CancelledPermissionOutcome(outcome="cancelled")
        else:
            outcome = schema.SelectedPermissionOutcomeVariant(outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message: str, requested_schema: Any = None, **_: Any) -> Any:
        wanted = list(plain(requested_schema)["properties"])
        self.seen.add("forms", {"message": message, "fields": wanted})
        if self.form_answer == "accept":
            return schema.AcceptElicitationResponse(action="accept", content=FORM_VALUES)
        return schema.DeclineElicitationResponse(action="decline")

    async def handle_extension_request(self, _method: str, params: Json) -> Json:
        return params

    # The steps.

    async def step_start(self, _: str) -> None:
        answer = await self.agent.initialize(
            protocol_version=2,
            info=schema.Implementation(name="official-py-v2", version="1.0.0"),
            capabilities=schema.ClientCapabilities(
                elicitation=schema.ElicitationCapabilities(
                    form=schema.ElicitationFormCapabilities()
                )
            ),
        )
        self.seen.facts |= {
            "version": answer.protocol_version,
            "agent": answer.info.name,
            "capabilities": plain(answer).get("capabilities", {}),
        }

    async def step_new(self, _: str) -> None:
        made = await self.agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        self.session = made.session_id
        self.keep_state(made)

    async def send_prompt(self, blocks: list[Json]) -> None:
        whole = {"sessionId": self.session, "prompt": blocks}
        prompt = schema.PromptRequest.model_validate(whole).prompt
        answer = await self.agent.prompt(session_id=self.session, prompt=prompt)
        self.seen.facts["message"] = answer.message_id
        await self.until(lambda: "stop" in self.seen.facts)

    async def send_cancel(self) -> None:
        await self.agent.cancel_session(session_id=self.session)

    async def step_mode(self, mode: str) -> None:
        await self.step_config(f"mode={mode}")

    async def step_config(self, argument: str) -> None:
        key, value = argument.split("=")
        typed: Any = {"true": True, "false": False}.get(value, value)
        answer = await self.agent.set_config_option(
            session_id=self.session, config_id=key, value=typed
        )
        self.keep_state(answer)

    async def step_load(self, _: str) -> None:
        await self.come_back(schema.ReplayFromStartVariant(type="start"))

    async def step_resume(self, _: str) -> None:
        await self.come_back(None)

    async def come_back(self, replay_from: Any) -> None:
        answer = await self.agent.resume_session(
            session_id=self.session, cwd=os.getcwd(), mcp_servers=[], replay_from=replay_from
        )
        self.keep_state(answer)

    async def step_list(self, _: str) -> None:
        answer = await self.agent.list_sessions()
        self.seen.facts["sessions"] = [info.session_id for info in answer.sessions]

    async def step_login(self, method_id: str) -> None:
        await self.agent.login(method_id=method_id)

    async def step_echo(self, value: str) -> None:
        self.seen.facts["echo"] = await self.agent.send_extension_request(ECHO, {"value": value})

    async def step_delete(self, _: str) -> None:
        await self.agent.delete_session(session_id=self.session)

    async def step_close(self, _: str) -> None:
        await self.agent.close_session(session_id=self.session)

    def keep_state(self, answer: Any) -> None:
        if answer.config_options is not None:
            self.seen.keep_config([plain(option) for option in answer.config_options])


async def main() -> None:
    steps, command = split_command(sys.argv[1:])
    client = ScriptedClient()
    if (url := remote_url(command)) is not None:
        transport = await remote_transport(url)
        async with v2.connect_to_agent(client, transport, observers=[client.observe]) as agent:
            client.agent = agent
            reports = await client.run(steps)
        print_report(reports, None)
        return
    async with AsyncExitStack() as stack:
        spawned = acp.spawn_stdio_transport(
            *command, env=os.environ, stderr=None, shutdown_timeout=EXIT_SECONDS
        )
        reader, writer, process = await stack.enter_async_context(spawned)
        connected = v2.connect_to_agent(client, writer, reader, observers=[client.observe])
        client.agent = await stack.enter_async_context(connected)
        reports = await client.run(steps)
    print_report(reports, process.returncode)


if __name__ == "__main__":
    asyncio.run(main())
