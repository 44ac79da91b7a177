"""A scripted client on our own library.

    client.py [--version=N] [--login=ID] STEP... -- AGENT COMMAND... | URL

The steps and what is printed are described in tests/interop/README.md.  One program for every
version.  Updates are reported as they are on the wire, but what they add up to comes from the
library: stop reasons, replies, plans, settings and terminals are those of turns and transcripts.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio

from accord import (
    Client,
    EmbeddedResource,
    ImageContent,
    LocalProtocolError,
    PermissionRequest,
    Permissions,
    PromptTurn,
    RequestFailed,
    ResourceLink,
    Session,
    TextContent,
    Update,
)
from accord.client.connection.extensions import Extensions
from accord.client.options import ClientOptions
from accord.client.services.elicitation import Elicitations
from accord.client.services.files import FileService
from accord.client.services.forms import FormRequest
from accord.client.services.terminals import TerminalService
from accord.machine.console.stderr_passthrough import PassedOutput
from accord.schema import v2
from accord.schema.codec import encode, to_python
from accord.transcript.items.tool_call import ToolCall
from accord.transport.subprocess import SubprocessTransport
from tests.interop.official.script import (
    ECHO,
    FORM_VALUES,
    print_report,
    remote_url,
    split_command,
)
from tests.interop.official.seen import Json, Seen

INVALID_PARAMS = -32602
BLOCKS = (
    TextContent(text="blocks"),
    ImageContent(data=b"hi", mime_type="image/png"),
    ResourceLink(uri="file:///link", name="link"),
    EmbeddedResource(resource=v2.EmbeddedResourceResource(uri="file:///text", text="embedded")),
)


class RecordedFiles(FileService):
    """Our own files, and what was asked of them."""

    def __init__(self, script: ScriptedClient) -> None:
        super().__init__()
        self._script = script

    def for_connection(self) -> FileService:
        return self

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        self._script.seen.add("reads", path)
        return await super().read_text(session_id, path, line, limit)

    async def write_text(
        self, session_id: str, path: str, content: str, *, at: str | None = None
    ) -> None:
        self._script.seen.add("writes", {"path": path, "content": content})
        await super().write_text(session_id, path, content, at=at)


class RecordedTerminals(TerminalService):
    """Our own terminals, and what was asked of them."""

    def __init__(self, script: ScriptedClient, **options: Any) -> None:
        super().__init__(**options)
        self._script = script

    def for_connection(self, tasks: Any) -> TerminalService:
        return RecordedTerminals(self._script, tasks=tasks)

    async def kill(self, session_id: str, terminal_id: str) -> None:
        self._script.seen.add("killed", terminal_id)
        await super().kill(session_id, terminal_id)

    async def release(self, session_id: str, terminal_id: str) -> None:
        self._script.seen.add("released", terminal_id)
        await super().release(session_id, terminal_id)


class ScriptedClient:
    """Takes the steps one after another, each with a record of its own."""

    def __init__(self) -> None:
        self.client: Client
        self.session: Session
        self.answer = "allow_once"
        self.form_answer = "accept"
        self.terminals_before = 0
        self.seen = Seen("start")
        self.permissions = Permissions.ask(self.decide)
        self.elicitations = Elicitations(on_form=self.fill_in)
        self.extensions = Extensions()
        self.extensions.method(ECHO)(self.echoed)

    def decide(self, request: PermissionRequest) -> str | None:
        kinds = [option.kind for option in request.options]
        chosen = request.of_kind(self.answer)
        option_id = None if chosen is None else chosen.option_id
        if request.origin == "agent":
            tool = None if request.tool_call is None else request.tool_call.tool_call_id
            asked = {"title": request.title, "reason": request.reason, "tool": tool}
            self.seen.add("permissions", {**asked, "kinds": kinds, "chosen": option_id})
        else:
            # The agent did something without asking, and our own policy asked for it.
            self.seen.add("unasked", {"origin": request.origin, "chosen": option_id})
        return option_id

    def fill_in(self, form: FormRequest) -> Any:
        fields = [field.name for field in form.fields]
        self.seen.add("forms", {"message": form.message, "fields": fields})
        return FORM_VALUES if self.form_answer == "accept" else False

    def echoed(self, params: Json) -> Json:
        return params

    def updated(self, update: Update) -> None:
        """Fold what came over the wire; what the client did itself has no wire form."""
        wire = None if update.wire is None else to_python(encode(update.wire))
        if wire is not None and "sessionUpdate" in wire:
            self.seen.fold(wire)

    # The steps.

    async def run(self, steps: Sequence[str]) -> list[Json]:
        return [await self._run(step) for step in ("start", "new", *steps)]

    async def _run(self, step: str) -> Json:
        verb, _, argument = step.partition(":")
        self.seen = Seen(step)
        action: Callable[[str], Awaitable[None]] = getattr(self, f"step_{verb}")
        try:
            await action(argument)
        except RequestFailed as error:
            self.seen.facts["error"] = {"code": error.code, "message": error.message}
        except LocalProtocolError as error:
            # Refused here, before anything was sent, as an agent would have refused it.
            self.seen.facts["error"] = {"code": INVALID_PARAMS, "message": str(error)}
        return self.seen.report()

    async def step_start(self, _: str) -> None:
        info = self.client.agent_info
        self.seen.facts |= {
            "version": self.client.protocol_version,
            "agent": None if info is None else info.name,
            "capabilities": self.client.capabilities.raw,
        }

    async def step_new(self, _: str) -> None:
        self.session = await self.client.new_session(on_update=self.updated)
        self.keep_settings()

    async def step_permission(self, kind: str) -> None:
        """How requests are answered from now on; what was remembered so far is forgotten."""
        self.answer = kind
        for grant in self.permissions.remembered():
            self.permissions.revoke(grant.grant_id)

    async def step_form(self, action: str) -> None:
        self.form_answer = action

    async def step_prompt(self, text: str) -> None:
        await self.send_prompt(text)

    async def step_blocks(self, _: str) -> None:
        await self.send_prompt(*BLOCKS)

    async def send_prompt(self, *blocks: Any) -> None:
        async with self.session.prompt(*blocks) as turn:
            async for _ in turn:
                pass
        self.keep_turn(turn)

    async def step_stop(self, text: str) -> None:
        async with self.session.prompt(text) as turn:
            stopped = False
            async for update in turn:
                call = update.item
                if isinstance(call, ToolCall) and call.cancellable and not stopped:
                    stopped = True
                    await self.session.cancel_tool_call(call.tool_call_id)
        self.keep_turn(turn)

    async def step_cancel(self, text: str) -> None:
        async with self.session.prompt(text) as turn:
            async for update in turn:
                if update.kind == "message":
                    await turn.cancel()
        self.keep_turn(turn)

    async def step_mode(self, mode_id: str) -> None:
        await self.session.set_mode(mode_id)
        self.keep_settings()

    async def step_config(self, argument: str) -> None:
        key, value = argument.split("=")
        typed: str | bool = {"true": True, "false": False}.get(value, value)
        await self.session.set_option(key, typed)
        self.keep_settings()

    async def step_load(self, _: str) -> None:
        await self.session.close()
        self.session = await self.client.load_session(self.session.id, on_update=self.updated)
        self.keep_settings()

    async def step_resume(self, _: str) -> None:
        await self.session.close()
        self.session = await self.client.resume_session(self.session.id, on_update=self.updated)
        self.keep_settings()

    async def step_list(self, _: str) -> None:
        listed = [info.session_id async for info in self.client.list_sessions()]
        self.seen.facts["sessions"] = listed

    async def step_login(self, method_id: str) -> None:
        await self.client.authenticate(method_id)

    async def step_echo(self, value: str) -> None:
        self.seen.facts["echo"] = await self.client.call_extension(ECHO, {"value": value})

    async def step_delete(self, _: str) -> None:
        await self.session.delete()

    async def step_close(self, _: str) -> None:
        await self.session.close()

    # What the library makes of it.

    def keep_turn(self, turn: PromptTurn) -> None:
        transcript, facts = self.session.transcript, self.seen.facts
        facts["stop"] = turn.stop_reason
        facts["messages"] = [
            message.text for message in turn.reply.messages if message.role == "agent"
        ]
        if self.client.protocol_version == 1:
            # They are ours, so no update tells of them.
            facts["terminals"] = [
                {"output": one.text, "exit": one.exit_status and one.exit_status.exit_code}
                for one in transcript.terminals[self.terminals_before :]
            ]
            self.terminals_before = len(transcript.terminals)
        if transcript.plan is not None:
            facts["plan"] = [[one.content, one.status] for one in transcript.plan.entries]
        facts["usage"] = {"used": transcript.usage.used, "size": transcript.usage.size}
        facts["title"] = transcript.info.title
        facts["commands"] = [command.name for command in transcript.commands]
        self.keep_settings()

    def keep_settings(self) -> None:
        transcript = self.session.transcript
        self.seen.facts |= {
            "config": {one.option_id: one.value for one in transcript.config_options},
            "mode": transcript.modes.current,
            "modes": [mode.mode_id for mode in transcript.modes.available],
        }


def read_flags(words: Sequence[str]) -> tuple[ClientOptions, list[str]]:
    """What the program is told about itself, and the steps."""
    flags = dict(word.split("=") for word in words if word.startswith("--"))
    options: ClientOptions = {}
    if "--version" in flags:
        options["versions"] = [int(flags["--version"])]
    if "--login" in flags:
        options["login"] = flags["--login"]
    return options, [word for word in words if not word.startswith("--")]


async def main(words: Sequence[str], command: Sequence[str]) -> None:
    options, steps = read_flags(words)
    script = ScriptedClient()
    options |= {
        "permissions": script.permissions,
        "files": RecordedFiles(script),
        "terminals": RecordedTerminals(script),
        "elicitation": script.elicitations,
        "extensions": script.extensions,
    }
    url = remote_url(list(command))
    if url is not None:
        async with Client.connect(url, **options) as client:
            script.client = client
            reports = await script.run(steps)
        print_report(reports, 0)
        return
    async with Client.spawn(*command, stderr=PassedOutput(), **options) as client:
        script.client = client
        reports = await script.run(steps)
    transport = client._core.link.transport
    assert isinstance(transport, SubprocessTransport)
    print_report(reports, None if transport.exit is None else transport.exit.code)


if __name__ == "__main__":
    anyio.run(main, *split_command(sys.argv[1:]))
