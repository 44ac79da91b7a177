"""Agents of version 2 and of the draft that break one rule each, made from the right ones."""

from __future__ import annotations

import hashlib
import threading
import time
from typing import Any

from tests.kit_accuracy.agent_draft import DraftAgent, DraftTurn
from tests.kit_accuracy.agent_v1 import Session
from tests.kit_accuracy.agent_v2 import UNSUPPORTED_VERSION, AgentV2
from tests.kit_accuracy.agent_v2_turn import TurnV2
from tests.kit_accuracy.line_peer import (
    NOT_FOUND,
    Json,
    Later,
    RpcError,
    Withdrawn,
    need,
)

FINAL = ("completed", "failed", "cancelled")


class FirstServer(AgentV2):
    """V2-SESS-26: connects to the first MCP server only."""

    def connect(self, session: Session, servers: list[Json]) -> None:
        super().connect(session, servers[:1])


class PrintedCancel(AgentV2):
    """TR-STDIO-03c: prints to standard output that its work was interrupted."""

    def notification(self, message: Json) -> None:
        running = any(session.works for session in self.sessions.values())
        if message["method"] == "session/cancel" and running:
            with self.peer.writing:
                self.peer.writer.write(b"^C interrupted\n")
        super().notification(message)


class ExactVersion(AgentV2):
    """V2-INIT-02: refuses versions above 2."""

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        version = params.get("protocolVersion")
        if type(version) is int and 2 < version <= 65535:
            data = {"requested": version, "supported": [2]}
            raise RpcError(UNSUPPORTED_VERSION, "Version 2 is the only one here.", data)
        return super().on_initialize(params, request_id)


class LateTitleTurn(TurnV2):
    def patch(self, call: Json, **changes: Any) -> None:
        if call["kind"] == "read" and changes.get("status") in FINAL:
            changes["title"] = call["title"]
        super().patch(call, **changes)


class LateTitle(AgentV2):
    """V2-UPS-06: tells the title of a read when it has ended."""

    turn_type = LateTitleTurn

    def update(self, session: Session, update: Json) -> None:
        told = (update["sessionUpdate"], update.get("kind"), update.get("status"))
        if told == ("tool_call_update", "read", "pending"):
            update = {key: value for key, value in update.items() if key != "title"}
        super().update(session, update)


class ClosedOnce(AgentV2):
    """V2-SESS-18: refuses to close a session that is not open."""

    def on_session_close(self, params: Json, request_id: Any) -> Later:
        self.active(params)
        return super().on_session_close(params, request_id)


class ImagesByTrue(AgentV2):
    """V2-INIT-09b: says by true that it takes images, as version 1 does."""

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        result = super().on_initialize(params, request_id)
        result["capabilities"]["session"]["prompt"]["image"] = True
        return result


class HashedTerminalTurn(TurnV2):
    def terminal_id(self, command: str) -> str:
        return "term-" + hashlib.sha256(command.encode()).hexdigest()[:12]


class HashedTerminal(AgentV2):
    """V2-UPS-12b: makes the id of a terminal from its command."""

    turn_type = HashedTerminalTurn


class LastMessageAgain(AgentV2):
    """V2-SESS-09b: sends the last message again on a resume that asked for no replay."""

    def on_session_resume(self, params: Json, request_id: Any) -> Later:
        later = super().on_session_resume(params, request_id)
        if params.get("replayFrom") is not None:
            return later
        session = self.sessions[params["sessionId"]]

        def work() -> Json | None:
            said = [each for each in session.history if each["sessionUpdate"] == "agent_message"]
            for update in said[-1:]:
                self.update(session, update)
            return later.work()

        return Later(work)


class NoSessionsAsNull(AgentV2):
    """V2-SESS-19b: lists null when no session matches."""

    def on_session_list(self, params: Json, request_id: Any) -> Json:
        result = super().on_session_list(params, request_id)
        return {**result, "sessions": result["sessions"] or None}


class TextEchoTurn(TurnV2):
    def echo(self, blocks: list[Json]) -> None:
        said = {"sessionUpdate": "user_message", "messageId": self.message_id}
        self.session.history.append({**said, "content": blocks})
        texts = [each for each in blocks if each["type"] == "text"]
        self.agent.update(self.session, {**said, "content": texts})


class TextEcho(AgentV2):
    """V2-PROMPT-05b: echoes the text of a prompt, and not its other blocks."""

    turn_type = TextEchoTurn


class AnsweredWithdrawal(AgentV2):
    """V2-CANCEL-15b: answers the withdrawal of a request that it never saw with an error."""

    def __init__(self, broken: str) -> None:
        super().__init__(broken)
        self.seen: set[Any] = set()

    def request(self, message: Json) -> Json | Later:
        self.seen.add(message["id"])
        return super().request(message)

    def notification(self, message: Json) -> None:
        super().notification(message)
        params = message.get("params")
        if message["method"] == "$/cancel_request" and isinstance(params, dict):
            asked = params.get("requestId")
            if self.initialized and isinstance(asked, int | str) and asked not in self.seen:
                self.peer.fail(asked, NOT_FOUND, "There is no such request.")


class CancellableCommandTurn(TurnV2):
    agent: CancellableCommand
    stop = threading.Event()

    def patch(self, call: Json, **changes: Any) -> None:
        status = changes.get("status")
        if call["kind"] == "execute" and status == "in_progress":
            self.stop = self.agent.stops[call["toolCallId"]] = threading.Event()
            changes["capabilities"] = {"cancel": {}}
        elif call["kind"] == "execute" and status in FINAL and "capabilities" in call:
            del self.agent.stops[call["toolCallId"]]
            changes["capabilities"] = None
        super().patch(call, **changes)

    def interrupted(self, seconds: float) -> bool:
        return super().interrupted(seconds) or self.stop.is_set()

    def run_here(self, call: Json, command: str) -> tuple[str, int | None]:
        try:
            return super().run_here(call, command)
        except Withdrawn:
            if self.work.cancelled.is_set():
                raise
            del self.open_calls[call["toolCallId"]]
            return "", None


class CancellableCommand(AgentV2):
    """V2-CANCEL-17: cancels a command by itself, and sends no final status of its tool call."""

    turn_type = CancellableCommandTurn

    def __init__(self, broken: str) -> None:
        super().__init__(broken)
        self.stops: dict[str, threading.Event] = {}

    def on_tool_call_cancel(self, params: Json, request_id: Any) -> Json:
        self.active(params)
        stop = self.stops.pop(need(params, "toolCallId", str), None)
        if stop is None:
            return super().on_tool_call_cancel(params, request_id)
        stop.set()
        return {}


class InfoAfterClose(AgentV2):
    """V2-SESS-15b: sends session_info_update 0.2 s after the session was closed."""

    def on_session_close(self, params: Json, request_id: Any) -> Later:
        session = self.sessions.get(str(params.get("sessionId")))
        later = super().on_session_close(params, request_id)

        def work() -> Json | None:
            result = later.work()
            if session is not None:
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                update = {"sessionUpdate": "session_info_update", "updatedAt": now}
                told = {"sessionId": session.id, "update": update}
                threading.Timer(0.2, self.peer.notify, ("session/update", told)).start()
            return result

        return Later(work)


def _is_bad_image(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") != "image":
        return False
    return not all(isinstance(block.get(key), str) for key in ("data", "mimeType"))


class BadImageTurn(TurnV2):
    def serve(self, blocks: list[Json]) -> None:
        super().serve([each for each in blocks if not _is_bad_image(each)])


class BadImage(AgentV2):
    """V2-GEN-07: takes an image without data for a block that it does not know, and skips it."""

    turn_type = BadImageTurn

    def check_block(self, block: Any) -> None:
        if not _is_bad_image(block):
            super().check_block(block)


class CancelledQuestionTurn(DraftTurn):
    def patch(self, call: Json, **changes: Any) -> None:
        waits = call["status"] == "awaiting_permission" and self.work.cancelled.is_set()
        if waits and changes.get("status") == "failed":
            changes["status"] = "cancelled"
        super().patch(call, **changes)


class CancelledQuestion(DraftAgent):
    """D26-32b: goes from awaiting_permission to cancelled when the turn is cancelled."""

    turn_type = CancelledQuestionTurn


class RequiredFiles(DraftAgent):
    """D26-18: requires files of the client, and goes on without them."""

    def on_initialize(self, params: Json, request_id: Any) -> Json:
        result = super().on_initialize(params, request_id)
        return {**result, "requiredClientCapabilities": {"fs": {"read": True, "write": True}}}


class ModeToldTwice(DraftAgent):
    """D26-35b: announces a mode that the client set twice."""

    def on_session_set_mode(self, params: Json, request_id: Any) -> Later:
        before = self.active(params).mode
        later = super().on_session_set_mode(params, request_id)
        session = self.active(params)

        def work() -> Json | None:
            result = later.work()
            data = {"previousMode": before, "currentMode": session.mode, "reason": "asked for"}
            self.update(session, {"type": "current_mode_update", "data": data})
            return result

        return Later(work)


class MailDate(DraftAgent):
    """D26-06: says when a session was made in the form of mail headers."""

    def __init__(self, broken: str) -> None:
        super().__init__(broken)
        self.peer.before_send = self.with_mail_date

    def with_mail_date(self, message: Json) -> Json:
        result = message.get("result")
        if not isinstance(result, dict) or "createdAt" not in result:
            return message
        now = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
        return {**message, "result": {**result, "createdAt": now}}


AGENTS: dict[str, type[AgentV2]] = {
    "V2-SESS-26": FirstServer,
    "TR-STDIO-03c": PrintedCancel,
    "V2-INIT-02": ExactVersion,
    "V2-UPS-06": LateTitle,
    "V2-SESS-18": ClosedOnce,
    "V2-INIT-09b": ImagesByTrue,
    "V2-UPS-12b": HashedTerminal,
    "V2-SESS-09b": LastMessageAgain,
    "V2-SESS-19b": NoSessionsAsNull,
    "V2-PROMPT-05b": TextEcho,
    "V2-CANCEL-15b": AnsweredWithdrawal,
    "V2-CANCEL-17": CancellableCommand,
    "V2-SESS-15b": InfoAfterClose,
    "V2-GEN-07": BadImage,
}
DRAFT_AGENTS: dict[str, type[DraftAgent]] = {
    "D26-32b": CancelledQuestion,
    "D26-18": RequiredFiles,
    "D26-35b": ModeToldTwice,
    "D26-06": MailDate,
}
