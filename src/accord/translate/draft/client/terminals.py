"""Terminal requests of a v1 agent to a draft client.

The client pushes output, which is gathered here; the agent's polls are answered from that.  The
end of a command is asked for as soon as it runs, so that a poll can tell it.

What always holds
    * Of a terminal no more output is kept than the agent's limit, and never more than
      `OUTPUT_BYTES_MAX`; the front goes first, at a character boundary.
    * No more terminals are open than the client said it can have.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from accord.jsonrpc.error_codes import INTERNAL_ERROR, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from accord.schema import draft
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.client.session_memory import State
from accord.translate.draft.conversion.meta_restore import keep_all, restore, taken
from accord.translate.draft.error_codes import DRAFT_TIMEOUT
from accord.translate.draft.exit_codes import exit_code_of
from accord.translate.message import (
    AGENT,
    CLIENT,
    UNREADABLE,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import is_text

OUTPUT_BYTES_MAX: Final = 1024 * 1024
TERMINALS_MAX: Final = 64
# Terminals whose output came before their id was known.
EARLY_TERMINALS_MAX: Final = 16
# Terminals that have ended and that a tool call may still show.
ENDED_TERMINALS_KEPT: Final = 64
STREAMS: Final = ("stdout", "stderr")
_EXIT_CODE_MAX: Final = 2**32 - 1


@dataclass(slots=True)
class _Terminal:
    limit: int = OUTPUT_BYTES_MAX
    # Each with its stream; output without a stream is stdout.
    pieces: deque[tuple[str, bytes]] = field(default_factory=deque)
    command: str | None = None
    size: int = 0
    truncated: bool = False
    exit: Json | None = None
    waiting: bool = False
    # The agent has released it; its last output may still come.
    released: bool = False
    waiters: list[Request] = field(default_factory=list)

    def take(self, data: str, stream: str) -> None:
        """Add output, and drop the beginning over the limit."""
        piece = data.encode(errors="replace")
        self.pieces.append((stream, piece))
        self.size += len(piece)
        self.cut()

    def cut(self) -> None:
        """Drop the beginning over the limit."""
        while self.size > self.limit:
            self.truncated = True
            stream, first = self.pieces.popleft()
            self.size -= len(first)
            rest = first[max(len(first) - (self.limit - self.size), 0) :]
            # Do not cut in the middle of a character.
            while rest and rest[0] & 0xC0 == 0x80:
                rest = rest[1:]
            if rest and self.limit > self.size:
                self.pieces.appendleft((stream, rest))
                self.size += len(rest)
                return

    def text(self) -> str:
        """Return the kept output of both streams."""
        return b"".join(piece for _, piece in self.pieces).decode()

    def stream(self, name: str) -> str:
        """Return the kept output of one stream."""
        return b"".join(piece for stream, piece in self.pieces if stream == name).decode()

    def printed(self, *, apart: bool) -> Json:
        """Return the answer to a poll; with `apart` it also has the two streams."""
        made: Json = {"output": self.text(), "truncated": self.truncated}
        if self.exit is not None:
            made["exitStatus"] = self.exit
        if apart:
            keep_all(made, {name: self.stream(name) for name in STREAMS})
        return made

    def shown(self, terminal_id: str) -> Json:
        """Return the output of a tool call that shows the terminal, once the command has ended."""
        status = self.exit or {}
        return {
            "type": "terminal",
            "terminalId": terminal_id,
            **({} if self.command is None else {"command": self.command}),
            "exitCode": exit_code_of(status.get("exitCode"), status.get("signal")),
            **{name: self.stream(name) for name in STREAMS},
        }


class Terminals:
    """Serves the agent's terminal requests by asking the client."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        self._terminals: dict[str, _Terminal] = {}
        self._early: dict[str, _Terminal] = {}
        self._creating = 0
        self._over: dict[str, _Terminal] = {}
        bridge.on_request[AGENT, "terminal/create"] = self._create
        bridge.on_request[AGENT, "terminal/output"] = self._polled
        bridge.on_request[AGENT, "terminal/wait_for_exit"] = self._wait
        bridge.on_request[AGENT, "terminal/kill"] = self._kill
        bridge.on_request[AGENT, "terminal/release"] = self._release
        bridge.on_request[CLIENT, "terminal/output"] = self._pushed
        bridge.on_notification[CLIENT, "terminal/output"] = self._told

    # ---- starting

    def _create(self, request: Request) -> Outs:
        if not self._state.serves("terminal", "create"):
            raise CannotTranslate(METHOD_NOT_FOUND, "the client does not serve terminals")
        most = (self._state.client["terminal"]).get("maxConcurrent", TERMINALS_MAX)
        if len(self._terminals) + self._creating >= min(most, TERMINALS_MAX):
            raise CannotTranslate(
                INTERNAL_ERROR, "the client has too many terminals open", {"reason": "too_many"}
            )
        asked = dict(request.params)
        line = self._bridge.around.command_line({**asked, "env": None})
        had = taken(asked)
        session = self._state.session(asked["sessionId"])
        had["sessionId"] = asked.pop("sessionId")
        env, limit = asked.pop("env", None), asked.pop("outputByteLimit", None)
        if env:
            asked["env"] = {one["name"]: one["value"] for one in env}
        if limit is not None:
            had["outputByteLimit"] = limit
        if asked.get("cwd") is None:
            asked.pop("cwd", None)
            had["noCwd"] = True
            if session.folder is not None:
                asked["cwd"] = session.folder
        asked = restore(asked, had, ("timeout",), draft.CreateTerminalRequest)
        keep_all(asked, had)
        self._creating += 1

        def then(answer: Answer) -> Outs:
            self._creating -= 1
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer, session.id)]
            made = self._created(request, answer.result, limit)
            self._terminals[answer.result["terminalId"]].command = line
            return made

        ask = self._bridge.ask
        return [ask(CLIENT, "terminal/create", asked, then, instead_of=request, of=AGENT)]

    def _created(self, request: Request, answer: Json, limit: int | None) -> Outs:
        result = dict(answer)
        terminal_id = result["terminalId"]
        terminal = self._early.pop(terminal_id, None) or _Terminal()
        if not self._creating:
            self._early.clear()
        if limit is not None:
            terminal.limit = min(limit, OUTPUT_BYTES_MAX)
            terminal.cut()
        self._terminals[terminal_id] = terminal
        if "pid" in result:
            keep_all(result, {"pid": result.pop("pid")})
        outs: list[Out] = [(AGENT, Result(request.key, result))]
        # Our own agent sets the time limit of the wait.
        return outs if self._bridge.details else [*outs, self._ask_end(terminal_id, terminal)]

    def shown(self, terminal_id: str) -> Json | None:
        """Return the output of a tool call that shows a terminal; None while the command runs."""
        terminal = self._over.get(terminal_id) or self._terminals.get(terminal_id)
        is_over = terminal is not None and (terminal.exit is not None or terminal_id in self._over)
        return terminal.shown(terminal_id) if terminal is not None and is_over else None

    # ---- output

    def _pushed(self, request: Request) -> Outs:
        received = self._take(request.params)
        return [(CLIENT, Result(request.key, {"received": received}))]

    def _told(self, params: Json) -> Outs:
        self._take(params)
        return []

    def _take(self, params: Json) -> bool:
        terminal_id = params["terminalId"]
        terminal = self._terminals.get(terminal_id) or self._early.get(terminal_id)
        if terminal is None:
            if not self._creating or len(self._early) >= EARLY_TERMINALS_MAX:
                return False
            terminal = self._early[terminal_id] = _Terminal()
        terminal.take(params["data"], "stderr" if params.get("stream") == "stderr" else "stdout")
        return True

    def _polled(self, request: Request) -> Outs:
        return [
            (AGENT, Result(request.key, self._known(request).printed(apart=self._bridge.details)))
        ]

    def _known(self, request: Request) -> _Terminal:
        terminal = self._terminals.get(request.params["terminalId"])
        if terminal is None or terminal.released:
            raise CannotTranslate(
                RESOURCE_NOT_FOUND, "no such terminal", {"uri": request.params["terminalId"]}
            )
        return terminal

    # ---- the end

    def _ask_end(self, terminal_id: str, terminal: _Terminal) -> Out:
        terminal.waiting = True

        def then(answer: Answer) -> Outs:
            terminal.waiting = False
            waiters, terminal.waiters = terminal.waiters, []
            if isinstance(answer, Result) and answer.result.get("timedOut") is True:
                # The request had no time limit.
                answer = Failure(0, DRAFT_TIMEOUT, "the client stopped waiting for the command")
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, one.key, answer) for one in waiters]
            terminal.exit = _exit_status(answer.result)
            return [(AGENT, Result(one.key, dict(terminal.exit))) for one in waiters]

        params = {"terminalId": terminal_id}
        return self._bridge.ask(CLIENT, "terminal/wait_for_exit", params, then)

    def _wait(self, request: Request) -> Outs:
        terminal = self._known(request)
        if terminal.exit is not None:
            return [(AGENT, Result(request.key, dict(terminal.exit)))]
        if self._bridge.details:
            return self._wait_so_long(request, terminal)
        terminal.waiters.append(request)
        if terminal.waiting:
            return []
        return [self._ask_end(request.params["terminalId"], terminal)]

    def _wait_so_long(self, request: Request, terminal: _Terminal) -> Outs:
        """Wait with the time limit of our own agent, and report whether it was reached."""
        asked = self._without_session(request)
        asked = restore(asked, taken(asked), ("timeout",), draft.WaitForTerminalExitRequest)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                if not _is_unreadable(answer):
                    return [self._bridge.fail(AGENT, request.key, answer)]
                # The command has ended; a malformed exit status is unknown.
                signal = answer.data["answer"].get("signal")
                answer = Result(0, {"exitCode": -1, "signal": signal if is_text(signal) else None})
            result = _exit_status(answer.result)
            if answer.result.get("timedOut") is True:
                keep_all(result, {"timedOut": True})
            else:
                terminal.exit = dict(result)
            return [(AGENT, Result(request.key, result))]

        method = "terminal/wait_for_exit"
        return [self._bridge.ask(CLIENT, method, asked, then, instead_of=request, of=AGENT)]

    def _kill(self, request: Request) -> Outs:
        self._known(request)
        asked = self._without_session(request)
        had = taken(asked)
        asked = restore(asked, had, ("signal", "force"), draft.KillTerminalRequest)
        keep_all(asked, had)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer)]
            result = dict(answer.result)
            if result.pop("killed") is not True:
                keep_all(result, {"killed": False})
            return [(AGENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(CLIENT, "terminal/kill", asked, then, instead_of=request, of=AGENT)]

    def _release(self, request: Request) -> Outs:
        terminal, terminal_id = self._known(request), request.params["terminalId"]
        terminal.released = True
        asked = self._without_session(request)

        def then(answer: Answer) -> Outs:
            # The last output of the command comes before this.
            self._terminals.pop(terminal_id, None)
            self._over[terminal_id] = terminal
            if len(self._over) > ENDED_TERMINALS_KEPT:
                del self._over[next(iter(self._over))]
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer)]
            result = dict(answer.result)
            if result.pop("released") is not True:
                keep_all(result, {"released": False})
            if self._bridge.details:
                keep_all(result, {"printed": terminal.printed(apart=True)})
            return [(AGENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(CLIENT, "terminal/release", asked, then, instead_of=request, of=AGENT)]

    def _without_session(self, request: Request) -> Json:
        asked = dict(request.params)
        keep_all(asked, {"sessionId": asked.pop("sessionId")})
        return asked


def _is_unreadable(failure: Failure) -> bool:
    data = failure.data if isinstance(failure.data, dict) else {}
    return data.get("reason") == UNREADABLE and isinstance(data.get("answer"), dict)


def _exit_status(answer: Json) -> Json:
    made = dict(answer)
    had = taken(made)
    made.pop("timedOut", None)
    code = made.pop("exitCode")
    signal = made.get("signal")
    if "exitCode" in had and had["exitCode"] is None:
        # Another bridge made this value, because the draft requires it.
        del had["exitCode"]
        code = None
    elif not 0 <= code <= _EXIT_CODE_MAX:
        had["exitCode"], code = code, None
    made["exitCode"], made["signal"] = code, signal
    keep_all(made, had)
    return made
