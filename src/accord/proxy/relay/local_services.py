"""Files and terminals of this machine for an agent whose client serves none.

It speaks v1's words: it is what a v1 client would be.  Files stay inside the folders of the
session, which it learns from what passes.

What always holds: a command that was started here ends with the relay.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from anyio import Path
from anyio.abc import TaskGroup

from accord.client.services.files import FileService
from accord.client.services.terminals import TerminalService
from accord.connection.error_responses import error_for
from accord.errors import RequestError
from accord.machine.errors import FileFailure
from accord.machine.redacted_logs import logger
from accord.translate.message import (
    Failure,
    Json,
    Key,
    Message,
    Notification,
    Request,
    Result,
)

_log = logger("accord.proxy")

OPENS = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
CLOSES = frozenset({"session/close", "session/delete"})


class LocalHost:
    """Serves what an adapter asks of its machine; see `relay.Host`."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._files = FileService()
        self._terminals = TerminalService(tasks=tasks)
        self._opening: dict[Key, Json] = {}
        self._sessions: set[str] = set()
        self.tell: Callable[[Message], None] = lambda _: None

    def read(self, path: str) -> str | None:
        """The text of a file of any session, or None."""
        for session_id in self._sessions:
            try:
                return self._files.read_now(session_id, path)
            except RequestError:
                continue
        return None

    # ---- sessions, seen in passing

    def asked(self, message: Message) -> None:
        """The agent is asked; keep what a session is opened with."""
        if isinstance(message, Request):
            if message.method in OPENS:
                self._opening[message.key] = dict(message.params)
            elif message.method in CLOSES:
                self._close(str(message.params.get("sessionId")))

    def answered(self, message: Message) -> None:
        """The agent answered; if that opened a session, its folders are served from now on."""
        if not isinstance(message, Result | Failure):
            return
        params = self._opening.pop(message.key, None)
        if params is None or isinstance(message, Failure):
            return
        result = message.result if isinstance(message.result, dict) else {}
        session_id = result.get("sessionId", params.get("sessionId"))
        # The 2026-02 draft has another name for it.
        cwd = params.get("cwd", params.get("workingDirectory"))
        if isinstance(session_id, str) and isinstance(cwd, str):
            self._open(session_id, cwd, params.get("additionalDirectories") or [])

    def _open(self, session_id: str, cwd: str, more: list[str]) -> None:
        self._terminals.add_session(session_id, cwd)
        try:
            self._files.add_session(session_id, [cwd, *more])
            self._sessions.add(session_id)
        except FileFailure as error:
            _log.warning("the files of session %s are not served: %s", session_id, error)

    def _close(self, session_id: str) -> None:
        self._sessions.discard(session_id)
        self._files.remove_session(session_id)
        self._tasks.start_soon(self._end, session_id)

    async def _end(self, session_id: str) -> None:
        await self._terminals.close_session(session_id)

    # ---- requests

    def ask(self, request: Request) -> None:
        """Begin to serve; the answer goes to `tell`."""
        self._tasks.start_soon(self._serve, request)

    async def _serve(self, request: Request) -> None:
        try:
            result = await self._do(request.method, request.params)
        except Exception as error:  # noqa: BLE001 - whatever it was, the agent gets an answer
            code, message, data = error_for(error, request.method)
            self.tell(Failure(request.key, code, message, data))
        else:
            self.tell(Result(request.key, result))

    async def _do(self, method: str, params: Json) -> Json:
        session_id = params["sessionId"]
        match method:
            case "fs/read_text_file":
                text = await self._files.read_text(
                    session_id, params["path"], params.get("line"), params.get("limit")
                )
                return {"content": text}
            case "host/locate":
                return await self._locate(session_id, params["path"])
            case "fs/write_text_file":
                path, at = params["path"], params.get("at")
                await self._files.write_text(session_id, path, params["content"], at=at)
                return {}
            case "terminal/create":
                return await self._create(session_id, params)
            case "terminal/output":
                shown = self._terminals.output(session_id, params["terminalId"])
                status = {} if shown.exit is None else {"exitStatus": _exit(shown.exit)}
                return {"output": shown.text, "truncated": shown.truncated, **status}
            case "terminal/wait_for_exit":
                return _exit(await self._terminals.wait_for_exit(session_id, params["terminalId"]))
            case "terminal/kill":
                await self._terminals.kill(session_id, params["terminalId"])
                return {}
            case "terminal/release":
                await self._terminals.release(session_id, params["terminalId"])
                return {}
            case _:
                raise RequestError.method_missing(method)

    async def _locate(self, session_id: str, path: str) -> Json:
        """Where a file that is to be written really is, and its text if there is one."""
        at = self._files.locate(session_id, path)
        try:
            return {"at": at, "oldText": await self._files.read_text(session_id, path)}
        except RequestError:
            # A file that is not text is shown as replaced, not as created.
            return {"at": at, "oldText": "" if await Path(at).exists() else None}

    async def _create(self, session_id: str, params: Json) -> Json:
        early: list[bytes] = []
        named: list[str] = []

        async def take(data: bytes) -> None:
            # Output may come before the id has gone to whoever asked for it.
            if named:
                self._tell_output(named[0], data)
            else:
                early.append(data)

        env = {one["name"]: one["value"] for one in params.get("env") or []}
        terminal_id = await self._terminals.create(
            session_id,
            params["command"],
            params.get("args") or (),
            env=env,
            cwd=params.get("cwd"),
            output_byte_limit=params.get("outputByteLimit"),
            on_output=take,
        )
        self._tasks.start_soon(self._watch, session_id, terminal_id, early, named)
        return {"terminalId": terminal_id}

    async def _watch(
        self, session_id: str, terminal_id: str, early: list[bytes], named: list[str]
    ) -> None:
        """Tell of output and exit, once the answer to the creation is on its way."""
        named.append(terminal_id)
        if early:
            self._tell_output(terminal_id, b"".join(early))
        try:
            ended = await self._terminals.wait_for_exit(session_id, terminal_id)
        except RequestError:
            # Released already, and the agent knows.
            return
        self.tell(Notification("host/terminal_exit", {"terminalId": terminal_id, **_exit(ended)}))

    def _tell_output(self, terminal_id: str, data: bytes) -> None:
        told = {"terminalId": terminal_id, "data": b64encode(data).decode("ascii")}
        self.tell(Notification("host/terminal_output", told))


def _exit(ended: Any) -> Json:
    return {"exitCode": ended.code, "signal": ended.signal}
