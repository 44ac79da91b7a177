"""Agents of version 1 that break one rule each, as subclasses of the right one."""

from __future__ import annotations

import os
import secrets
from typing import Any

from tests.kit_accuracy import session_store
from tests.kit_accuracy.agent_v1 import Agent, Session
from tests.kit_accuracy.agent_v1_turn import Turn, text_item
from tests.kit_accuracy.line_peer import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    NOT_FOUND,
    Json,
    Later,
    RpcError,
    Withdrawn,
    Work,
    need,
)
from tests.kit_accuracy.prompt_reading import Request, read_request

BLOCK_TYPES = ("text", "image", "resource", "resource_link")
WINDOW = 200_000


class NormalizedFolder(Agent):
    """V1-SESS-19: normalizes the working directory, and leaves the further roots as they are."""

    def setup_of(self, params: Json, servers_needed: bool) -> tuple[str, list[str], list[Json]]:
        cwd, roots, servers = super().setup_of(params, servers_needed)
        return os.path.normpath(cwd), roots, servers

    def on_session_list(self, params: Json, request_id: Any) -> Json:
        if isinstance(params.get("cwd"), str):
            params = {**params, "cwd": os.path.normpath(params["cwd"])}
        return super().on_session_list(params, request_id)


class ArchiveWithoutList(Agent):
    """V1-CAP-07: archives sessions, and does not list them."""

    methods = (Agent.methods - {"session/list"}) | {"session/archive", "session/unarchive"}

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        result = super().on_initialize(params, request_id)
        offered = result["agentCapabilities"]["sessionCapabilities"]
        del offered["list"]
        offered["archive"] = {}
        return result

    def on_session_archive(self, params: Json, _: Any) -> Json:
        return self.mark(params, archived=True)

    def on_session_unarchive(self, params: Json, _: Any) -> Json:
        return self.mark(params, archived=False)

    def mark(self, params: Json, archived: bool) -> Json:
        self.check_login()
        session_id = need(params, "sessionId", str)
        record = session_store.load(session_id)
        if record is None:
            raise RpcError(NOT_FOUND, "There is no such session.", {"sessionId": session_id})
        session = self.sessions.pop(session_id, None) if archived else None
        if session:
            for work in list(session.works):
                work.cancel()
            session.end()
        session_store.save(session_id, {**record, "archived": archived})
        return {}


class SessionBeforeCheck(Agent):
    """V1-SESS-10b: keeps the session that it refused because of its additional roots."""

    def on_session_new(self, params: Json, request_id: Any) -> Later:
        try:
            return super().on_session_new(params, request_id)
        except RpcError as error:
            if "additionalDirectories" in error.message:
                Session("ses-" + secrets.token_hex(8), params["cwd"], [], None).save()
            raise


class DroppedBlocks(Agent):
    """V1-GEN-13b: drops the malformed blocks of a prompt, and runs the rest."""

    def on_session_prompt(self, params: Json, request_id: Any) -> Later:
        blocks = params.get("prompt")
        if isinstance(blocks, list):
            good = [each for each in blocks if not self.is_malformed(each)]
            params = {**params, "prompt": good or blocks}
        return super().on_session_prompt(params, request_id)

    def is_malformed(self, block: Any) -> bool:
        if not isinstance(block, dict):
            return True
        try:
            self.check_block(block)
        except RpcError:
            return block.get("type") in BLOCK_TYPES
        return False


class RelativeCommand(Agent):
    """V1-MCP-06: starts MCP servers by relative commands without a word."""

    def check_server(self, server: Any) -> None:
        command = server.get("command") if isinstance(server, dict) else None
        if isinstance(command, str) and command and not os.path.isabs(command):
            server = {**server, "command": "/" + command}
        super().check_server(server)


class FreeTurn(Turn):
    used_tools = False

    def call(self, title: str, kind: str, path: str = "", **more: Any) -> Json:
        self.used_tools = True
        return super().call(title, kind, path, **more)

    def serve(self, blocks: list[Json]) -> None:
        super().serve(blocks)
        used = 1000 * (self.session.turns + 1)
        cost = {"amount": used / 1_000_000, "currency": "USD"}
        if not self.used_tools:
            del cost["amount"]
        usage = {"sessionUpdate": "usage_update", "used": used, "size": WINDOW, "cost": cost}
        self.agent.update(self.session, usage)


class CostWithoutAmount(Agent):
    """V1-USAGE-04b: leaves the amount out of the cost after a turn without tools."""

    turn_type = FreeTurn


class FirstFolderTurn(Turn):
    agent: FirstFolder

    def working_directory(self) -> str:
        return self.agent.first_cwd


class FirstFolder(Agent):
    """V1-SESS-03b: changes to the folder of its first session, and runs all commands there."""

    turn_type = FirstFolderTurn
    first_cwd = ""

    def setup_of(self, params: Json, servers_needed: bool) -> tuple[str, list[str], list[Json]]:
        cwd, roots, servers = super().setup_of(params, servers_needed)
        self.first_cwd = self.first_cwd or cwd
        return cwd, roots, servers


class NewestVersion(Agent):
    """V1-INIT-06: answers every version with 2."""

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        return {**super().on_initialize(params, request_id), "protocolVersion": 2}


class Providers(Agent):
    """Has the methods of providers."""

    methods = Agent.methods | {"providers/list", "providers/set", "providers/disable"}
    marker = True

    def __init__(self, broken: str) -> None:
        super().__init__(broken)
        main = {"providerId": "main", "supported": ["anthropic", "openai"], "required": True}
        spare = {"providerId": "spare", "supported": ["openai"], "required": False}
        current = {"apiType": "anthropic", "baseUrl": "https://models.example.com"}
        self.providers: list[Json] = [{**main, "current": current}, {**spare, "current": None}]

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        result = super().on_initialize(params, request_id)
        if self.marker:
            result["agentCapabilities"]["providers"] = {}
        return result

    def provider_of(self, params: Json) -> Json | None:
        wanted = need(params, "providerId", str)
        return next((each for each in self.providers if each["providerId"] == wanted), None)

    def on_providers_list(self, params: Json, _: Any) -> Json:
        return {"providers": self.providers}

    def on_providers_set(self, params: Json, _: Any) -> Json:
        provider = self.provider_of(params)
        kind, address = need(params, "apiType", str), need(params, "baseUrl", str)
        headers = params.get("headers", {})
        good = isinstance(headers, dict) and all(isinstance(each, str) for each in headers.values())
        if provider is None or kind not in provider["supported"] or not good:
            raise RpcError(INVALID_PARAMS, "There is no such provider, or not with this setup.")
        provider["current"] = {"apiType": kind, "baseUrl": address}
        return {}

    def on_providers_disable(self, params: Json, _: Any) -> Json:
        provider = self.provider_of(params)
        if provider is not None and provider["required"]:
            self.keep_required(provider)
        elif provider is not None:
            provider["current"] = None
        return {}

    def keep_required(self, provider: Json) -> None:
        raise RpcError(INVALID_PARAMS, "This provider is required.")


class ProvidersWithoutMarker(Providers):
    """V1-PROV-01: has the methods of providers, and does not say so."""

    marker = False


class RequiredProviderDisabled(Providers):
    """V1-PROV-04: answers that it disabled a required provider, which it keeps."""

    def keep_required(self, provider: Json) -> None:
        return


class ErrorForEachEntry(Agent):
    """V1-GEN-14b: refuses every entry of an array by itself."""

    def __init__(self, broken: str) -> None:
        super().__init__(broken)
        self.peer.take_other = self.refuse  # type: ignore[method-assign]

    def refuse(self, message: Any) -> None:
        for each in message if isinstance(message, list) and message else [None]:
            request_id = each.get("id") if isinstance(each, dict) else None
            self.peer.fail(request_id, INVALID_REQUEST, "Arrays are not supported.")


class BareCommandTurn(Turn):
    def serve(self, blocks: list[Json]) -> None:
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text").strip()
        if text.startswith("/") and " " in text:
            self.do_say(Request("say", text=text))
        else:
            super().serve(blocks)


class BareCommand(Agent):
    """V1-CMD-03b: runs a command only when no text follows its name."""

    turn_type = BareCommandTurn


class ContentChunkTurn(Turn):
    def patch(self, call: Json, **changes: Any) -> None:
        if call["kind"] == "read" and changes.get("status") == "completed":
            chunk = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call["toolCallId"]}
            self.agent.update(self.session, {**chunk, "content": changes["content"][0]})
        super().patch(call, **changes)


class ContentChunk(Agent):
    """V1-INIT-09b: streams what it reads in the content chunks of version 2."""

    turn_type = ContentChunkTurn


class PruningList(Agent):
    """V1-CLOSE-13b: closes the sessions without a message when it lists."""

    def on_session_list(self, params: Json, request_id: Any) -> Json:
        result = super().on_session_list(params, request_id)
        for session in list(self.sessions.values()):
            if not session.history and not session.works:
                del self.sessions[session.id]
                session.end()
        return result


class ReadOnlyClient(Agent):
    """V1-CAP-02: fails to change files when the client lets it read, and not write."""

    def on_session_prompt(self, params: Json, request_id: Any) -> Later:
        told = self.client.get("fs")
        told = told if isinstance(told, dict) else {}
        reads_only = told.get("readTextFile") is True and told.get("writeTextFile") is not True
        blocks = [each for each in params.get("prompt") or [] if isinstance(each, dict)]
        text = "\n".join(str(each.get("text", "")) for each in blocks)
        if reads_only and read_request(text).kind in ("edit", "replace"):
            raise RpcError(-32603, "The client has no fs/write_text_file.")
        return super().on_session_prompt(params, request_id)


class LinkedFolderTurn(Turn):
    def resolve(self, path: str) -> tuple[str, bool]:
        whole, _ = super().resolve(path)
        real = os.path.realpath(whole)
        roots = [os.path.normpath(each) for each in (self.session.cwd, *self.session.roots)]
        return whole, any(real == each or real.startswith(each + os.sep) for each in roots)


class LinkedFolder(Agent):
    """V1-SESS-05b: takes all files for outside when the folder is named through a link."""

    turn_type = LinkedFolderTurn


class CountedCallTurn(Turn):
    agent: CountedCall

    def call(self, title: str, kind: str, path: str = "", **more: Any) -> Json:
        self.agent.calls += 1
        return super().call(title, kind, path, toolCallId=f"call-{self.agent.calls}", **more)


class CountedCall(Agent):
    """V1-TOOL-02c: counts its tool calls from 1 in every process, also in a loaded session."""

    turn_type = CountedCallTurn
    calls = 0


class SharedFork(Agent):
    """V1-CLOSE-17: forks a session that shares its history with the source."""

    methods = Agent.methods | {"session/fork"}

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        result = super().on_initialize(params, request_id)
        result["agentCapabilities"]["sessionCapabilities"]["fork"] = {}
        return result

    def on_session_fork(self, params: Json, request_id: Any) -> Later:
        self.check_login()
        source_id = need(params, "sessionId", str)
        cwd, roots, servers = self.setup_of(params, servers_needed=False)
        record = session_store.load(source_id)
        if record is None:
            raise RpcError(NOT_FOUND, "There is no such session.", {"sessionId": source_id})
        session = Session("ses-" + secrets.token_hex(8), cwd, roots, record)
        if source_id in self.sessions:
            session.history = self.sessions[source_id].history
        self.sessions[session.id] = session
        session.save()

        def work() -> Json:
            self.connect(session, servers)
            return {"sessionId": session.id, **self.state_of(session)}

        return Later(work)

    def run(self, session: Session, work: Work, blocks: list[Json], request_id: Any) -> None:
        super().run(session, work, blocks, request_id)
        for each in list(self.sessions.values()):
            each.save()


class UserMessageWithoutId(Agent):
    """V1-PROMPT-17: replays user messages without their ids."""

    def update(self, session: Session, update: Json) -> None:
        if update["sessionUpdate"] == "user_message_chunk":
            update = {key: value for key, value in update.items() if key != "messageId"}
        super().update(session, update)


class CutCommandTurn(Turn):
    command_cut = False

    def run_here(self, call: Json, command: str) -> tuple[str, int | None]:
        try:
            return super().run_here(call, command)
        except Withdrawn:
            self.command_cut = True
            raise

    def run_in_terminal(self, call: Json, command: str) -> tuple[str, int | None]:
        try:
            return super().run_in_terminal(call, command)
        except Withdrawn:
            self.command_cut = True
            raise

    def run(self, blocks: list[Json]) -> str:
        reason = super().run(blocks)
        return "end_turn" if self.command_cut else reason


class CutCommand(Agent):
    """V1-CANCEL-05c: ends with end_turn when it is cancelled while a command runs."""

    turn_type = CutCommandTurn


class ServersAtFirstOnly(Agent):
    """V1-MCP-01b: starts MCP servers at session/new only."""

    def reopen(self, params: Json, servers_needed: bool) -> tuple[Session, list[Json]]:
        session, _ = super().reopen(params, servers_needed)
        return session, []


class EarlySummaryTurn(Turn):
    def serve(self, blocks: list[Json]) -> None:
        told = self.agent.client.get("session")
        told = told.get("compaction") if isinstance(told, dict) else None
        if self.session.turns and isinstance(told, dict):
            summary = [text_item("We talked about files.")["content"]]
            said = {"sessionUpdate": "compaction_update", "summary": summary}
            said["compactionId"] = "compaction-" + secrets.token_hex(6)
            for status in ("in_progress", "completed"):
                self.agent.update(self.session, {**said, "status": status})
        super().serve(blocks)


class EarlySummary(Agent):
    """V1-USAGE-11: sends the summary of a compaction that is in progress."""

    turn_type = EarlySummaryTurn


AGENTS: dict[str, type[Agent]] = {
    "V1-SESS-19": NormalizedFolder,
    "V1-CAP-07": ArchiveWithoutList,
    "V1-SESS-10b": SessionBeforeCheck,
    "V1-GEN-13b": DroppedBlocks,
    "V1-MCP-06": RelativeCommand,
    "V1-USAGE-04b": CostWithoutAmount,
    "V1-SESS-03b": FirstFolder,
    "V1-INIT-06": NewestVersion,
    "V1-PROV-01": ProvidersWithoutMarker,
    "V1-PROV-04": RequiredProviderDisabled,
    "V1-GEN-14b": ErrorForEachEntry,
    "V1-CMD-03b": BareCommand,
    "V1-INIT-09b": ContentChunk,
    "V1-CLOSE-13b": PruningList,
    "V1-CAP-02": ReadOnlyClient,
    "V1-SESS-05b": LinkedFolder,
    "V1-TOOL-02c": CountedCall,
    "V1-CLOSE-17": SharedFork,
    "V1-PROMPT-17": UserMessageWithoutId,
    "V1-CANCEL-05c": CutCommand,
    "V1-MCP-01b": ServersAtFirstOnly,
    "V1-USAGE-11": EarlySummary,
}
