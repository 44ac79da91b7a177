"""Terminal requests of a draft agent to a v1 client.

The draft has output pushed; a v1 client is polled for it.  So every terminal is polled, less and
less often while nothing comes, and what is new is handed to the agent, one piece at a time.  With
`details` the client is our own: it pushes output itself, by `PUSHED_OUTPUT`, and is not polled.

What always holds
    * Of the output no more is kept than `TAIL_CHARS_MAX` characters per terminal.
    * One poll and one push per terminal are under way at a time.
    * What the command put out before its end reaches the agent before the word of its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_SESSION_STATE,
    RESOURCE_NOT_FOUND,
)
from accord.schema.struct import Uint64
from accord.translate.adapter import NOTHING, Outs
from accord.translate.draft.agent.session_memory import Session, State
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.conversion.meta_restore import fits, keep_all, taken
from accord.translate.draft.conversion.paths import is_absolute, resolved
from accord.translate.draft.error_codes import (
    DRAFT_CANCELLED,
    DRAFT_CAPABILITY_NOT_SUPPORTED,
    DRAFT_RESOURCE_NOT_FOUND,
)
from accord.translate.draft.exit_codes import UNKNOWN_EXIT, exit_code_of
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Notification,
    Out,
    Request,
    Result,
)

# A message of our own client to this bridge, with the params of the draft's `terminal/output`.
PUSHED_OUTPUT: Final = "_acp.draft/terminal_output"
POLL_FIRST_SECONDS: Final = 0.1
POLL_LAST_SECONDS: Final = 1.0
POLL_GROWTH: Final = 1.5
TERMINALS_MAX: Final = 1024
TAIL_CHARS_MAX: Final = 4096
CUT_MARK: Final = "\n[output before this was dropped]\n"
_SECOND_MS: Final = 1000


@dataclass(slots=True)
class _Terminal:
    id: str
    session_id: str
    interval: float = POLL_FIRST_SECONDS
    timer: int | None = None
    deadline: int | None = None
    polling: bool = False
    pushing: bool = False
    # The agent does not accept output any more, or there will be none.
    drained: bool = False
    seen: int = 0
    tail: str = ""
    exit: Json | None = None
    # The command was ended by its time limit.
    timed_out: bool = False
    waiting: bool = False
    # The requests that wait for the end, each with the timer of its time limit.
    waiters: list[tuple[Request, int | None]] = field(default_factory=list)


class Terminals:
    """Serves the agent's terminal requests by asking the client."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        self._terminals: dict[str, _Terminal] = {}
        bridge.on_request[AGENT, "terminal/create"] = self._create
        bridge.on_request[AGENT, "terminal/wait_for_exit"] = self._wait
        bridge.on_request[AGENT, "terminal/kill"] = self._kill
        bridge.on_request[AGENT, "terminal/release"] = self._release
        if bridge.details:
            bridge.on_request[CLIENT, PUSHED_OUTPUT] = self._pushed
            bridge.on_notification[CLIENT, PUSHED_OUTPUT] = _told_output

    def lives(self, terminal_id: str) -> bool:
        """Whether the client has a terminal with this id."""
        return terminal_id in self._terminals

    def forget(self, session_id: str) -> None:
        """Forget the terminals of a session that has ended."""
        for terminal in [one for one in self._terminals.values() if one.session_id == session_id]:
            self._forget(terminal)

    def _forget(self, terminal: _Terminal) -> None:
        del self._terminals[terminal.id]
        self._bridge.timers.cancel(terminal.timer)
        self._bridge.timers.cancel(terminal.deadline)

    def _require(self, terminal_id: str) -> None:
        """Refuse a terminal that was not created here: our own client has no others."""
        if self._bridge.details and terminal_id not in self._terminals:
            raise CannotTranslate(
                DRAFT_RESOURCE_NOT_FOUND,
                f"No such terminal: {terminal_id}",
                {"terminalId": terminal_id},
            )

    def _owner(self, params: Json) -> Session:
        had = taken(params)
        named = had.pop("sessionId", params.pop("sessionId", None))
        terminal = self._terminals.get(params.get("terminalId", ""))
        cwd = params.get("cwd")
        if cwd is not None and not is_absolute(cwd):
            cwd = None
        session = self._state.owner(cwd, named if terminal is None else terminal.session_id)
        keep_all(params, had)
        return session

    # ---- starting

    def _create(self, request: Request) -> Outs:
        if not self._state.serves("terminal", "create"):
            raise CannotTranslate(
                DRAFT_CAPABILITY_NOT_SUPPORTED, "the client does not offer terminals"
            )
        if len(self._terminals) >= TERMINALS_MAX:
            raise CannotTranslate(INTERNAL_ERROR, "too many terminals are open")
        asked = dict(request.params)
        session = self._owner(asked)
        if session.muted:
            raise CannotTranslate(DRAFT_CANCELLED, "the turn was cancelled")
        had = taken(asked)
        timeout, env = asked.pop("timeout", None), asked.pop("env", None)
        asked["sessionId"] = session.id
        asked["cwd"] = resolved(asked["cwd"], session.folder) if "cwd" in asked else session.folder
        if env is not None:
            asked["env"] = [{"name": name, "value": value} for name, value in env.items()]
        if had.pop("noCwd", False) is True:
            del asked["cwd"]
        limit = had.get("outputByteLimit")
        if isinstance(limit, int) and fits(Uint64, limit):
            asked["outputByteLimit"] = had.pop("outputByteLimit")
        keep_all(asked, had if timeout is None else {**had, "timeout": timeout})

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, _not_created(answer))]
            return self._created(request, session, answer.result, timeout)

        ask = self._bridge.ask
        return [ask(CLIENT, "terminal/create", asked, then, instead_of=request, of=AGENT)]

    def _created(
        self, request: Request, session: Session, answer: Json, timeout: int | None
    ) -> Outs:
        result = dict(answer)
        had = taken(result)
        details = self._bridge.details
        terminal = _Terminal(result["terminalId"], session.id, drained=details)
        self._terminals[terminal.id] = terminal
        if not details:
            self._poll_later(terminal)
        # 0 means no limit, as elsewhere.
        if timeout:
            at = self._bridge.after(timeout / _SECOND_MS)
            terminal.deadline = self._bridge.timers.start(at, lambda: self._expire(terminal))
        pid = had.get("pid")
        if isinstance(pid, int) and fits(Uint64, pid):
            result["pid"] = had.pop("pid")
        keep_all(result, had)
        return [(AGENT, Result(request.key, result))]

    def _expire(self, terminal: _Terminal) -> Outs:
        """End a command that took longer than the agent allows."""
        terminal.timed_out = True
        params = {"sessionId": terminal.session_id, "terminalId": terminal.id}
        return [self._bridge.ask(CLIENT, "terminal/kill", params, lambda _: NOTHING)]

    # ---- output

    def _poll_later(self, terminal: _Terminal) -> None:
        at = self._bridge.after(terminal.interval)
        terminal.timer = self._bridge.timers.start(at, lambda: self._poll(terminal))

    def _poll(self, terminal: _Terminal) -> Outs:
        terminal.timer = None
        terminal.polling = True
        # The answer of a poll that began before the end may lack the last output.
        last = terminal.exit is not None
        params = {"sessionId": terminal.session_id, "terminalId": terminal.id}

        def then(answer: Answer) -> Outs:
            return self._polled(terminal, answer, last=last)

        return [self._bridge.ask(CLIENT, "terminal/output", params, then)]

    def _is_live(self, terminal: _Terminal) -> bool:
        return self._terminals.get(terminal.id) is terminal and not terminal.drained

    def _polled(self, terminal: _Terminal, answer: Answer, *, last: bool) -> Outs:
        terminal.polling = False
        if isinstance(answer, Failure):
            terminal.drained = True
        if not self._is_live(terminal) or isinstance(answer, Failure):
            return self._tell_waiters(terminal)
        status = answer.result.get("exitStatus")
        if status is not None and terminal.exit is None:
            self._ended(terminal, status)
        terminal.drained = status is not None or last
        new = _new_output(terminal, answer.result)
        if new:
            terminal.interval = POLL_FIRST_SECONDS
            return [self._push(terminal, new), *self._tell_waiters(terminal)]
        terminal.interval = min(terminal.interval * POLL_GROWTH, POLL_LAST_SECONDS)
        return self._go_on(terminal)

    def _go_on(self, terminal: _Terminal) -> Outs:
        """Poll again; if the command has ended, poll at once for the last time."""
        if not self._is_live(terminal):
            return self._tell_waiters(terminal)
        if terminal.exit is not None:
            return self._poll(terminal)
        self._poll_later(terminal)
        return NOTHING

    def _push(self, terminal: _Terminal, data: str) -> Out:
        terminal.pushing = True

        def then(answer: Answer) -> Outs:
            terminal.pushing = False
            if isinstance(answer, Failure) or answer.result["received"] is not True:
                # The agent does not know the terminal, or does not accept output at all.
                terminal.drained = True
            return self._go_on(terminal)

        params = {"terminalId": terminal.id, "data": data}
        return self._bridge.ask(AGENT, "terminal/output", params, then)

    def _pushed(self, request: Request) -> Outs:
        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer)]
            return [(CLIENT, Result(request.key, answer.result))]

        ask = self._bridge.ask
        params = request.params
        return [ask(AGENT, "terminal/output", params, then, instead_of=request, of=CLIENT)]

    # ---- the end

    def _ended(self, terminal: _Terminal, status: Json) -> None:
        terminal.exit = status
        self._bridge.timers.cancel(terminal.deadline)

    def _wait(self, request: Request) -> Outs:
        params = dict(request.params)
        self._require(params["terminalId"])
        session = self._owner(params)
        timeout = params.pop("timeout", None)
        terminal = self._terminals.get(params["terminalId"])
        if terminal is None:
            # Not created here: the client decides, and its answer concerns none of these terminals.
            terminal = _Terminal(params["terminalId"], session.id, drained=True)
        if terminal.exit is not None:
            terminal.waiters.append((request, None))
            return self._tell_waiters(terminal)
        timer = None
        if timeout is not None:
            at = self._bridge.after(timeout / _SECOND_MS)
            timer = self._bridge.timers.start(at, lambda: self._give_up(terminal, request))
        terminal.waiters.append((request, timer))
        if terminal.waiting:
            return NOTHING
        terminal.waiting = True
        params["sessionId"] = session.id

        def then(answer: Answer) -> Outs:
            return self._waited(terminal, answer)

        return [self._bridge.ask(CLIENT, "terminal/wait_for_exit", params, then)]

    def _give_up(self, terminal: _Terminal, request: Request) -> Outs:
        """Answer at the agent's time limit; the client's wait continues for the next request."""
        terminal.waiters = [one for one in terminal.waiters if one[0] is not request]
        return [(AGENT, Result(request.key, {"exitCode": UNKNOWN_EXIT, "timedOut": True}))]

    def _waited(self, terminal: _Terminal, answer: Answer) -> Outs:
        terminal.waiting = False
        if isinstance(answer, Failure):
            waiters, terminal.waiters = terminal.waiters, []
            outs: list[Out] = []
            for request, timer in waiters:
                self._bridge.timers.cancel(timer)
                outs.append(self._bridge.fail(AGENT, request.key, answer))
            return outs
        if terminal.exit is None:
            self._ended(terminal, answer.result)
        if self._is_live(terminal) and not (terminal.polling or terminal.pushing):
            self._bridge.timers.cancel(terminal.timer)
            return self._poll(terminal)
        return self._tell_waiters(terminal)

    def _tell_waiters(self, terminal: _Terminal) -> Outs:
        """Answer the waiting requests, once the output is sent."""
        if terminal.exit is None or self._is_live(terminal):
            return NOTHING
        waiters, terminal.waiters = terminal.waiters, []
        outs: list[Out] = []
        for request, timer in waiters:
            self._bridge.timers.cancel(timer)
            outs.append((AGENT, Result(request.key, self._exit_result(terminal))))
        return outs

    def _exit_result(self, terminal: _Terminal) -> Json:
        made = dict(terminal.exit or {})
        code, signal = made.pop("exitCode", None), made.pop("signal", None)
        if code is None and not self._bridge.details:
            keep_all(made, {"exitCode": None})
        made["exitCode"] = exit_code_of(code, signal)
        if signal is not None:
            made["signal"] = signal
        if terminal.timed_out:
            made["timedOut"] = True
        return made

    # ---- ending

    def _kill(self, request: Request) -> Outs:
        asked = dict(request.params)
        self._require(asked["terminalId"])
        session = self._owner(asked)
        hints: Json = {name: asked.pop(name) for name in ("signal", "force") if name in asked}
        asked["sessionId"] = session.id
        keep_all(asked, hints)
        return self._end(request, "terminal/kill", asked, "killed")

    def _release(self, request: Request) -> Outs:
        asked = dict(request.params)
        terminal = self._terminals.get(asked["terminalId"])
        if terminal is None and self._bridge.details:
            return [(AGENT, Result(request.key, {"released": False}))]
        asked["sessionId"] = self._owner(asked).id
        if terminal is not None:
            self._forget(terminal)
        return self._end(request, "terminal/release", asked, "released")

    def _end(self, request: Request, method: str, asked: Json, word: str) -> Outs:
        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                result = dict(answer.result)
                done = taken(result).get(word, True) if self._bridge.details else True
                return [(AGENT, Result(request.key, {**result, word: done is True}))]
            if answer.code == RESOURCE_NOT_FOUND:
                return [(AGENT, Result(request.key, {word: False}))]
            return [self._bridge.fail(AGENT, request.key, answer)]

        ask = self._bridge.ask
        return [ask(CLIENT, method, asked, then, instead_of=request, of=AGENT)]


def _told_output(params: Json) -> Outs:
    """Send output as a notification, for an agent that does not answer it."""
    return [(AGENT, Notification("terminal/output", params))]


def _not_created(failure: Failure) -> Failure:
    """Return the failure to create a terminal, with the limit that our client told the agent."""
    reason = failure.data.get("reason") if isinstance(failure.data, dict) else None
    if reason != "too_many_terminals":
        return failure
    data = {"reason": "invalid_session_state", "suggestion": "release a terminal first"}
    said = f"maxConcurrent: {failure.message}"
    return failure._replace(code=INVALID_SESSION_STATE, message=said, data=data)


def _new_output(terminal: _Terminal, result: Json) -> str:
    """Return the output that was not pushed yet.  A client that truncates drops the beginning."""
    output: str = result["output"]
    if not result["truncated"]:
        new = output[terminal.seen :]
    else:
        at = output.rfind(terminal.tail, 0, terminal.seen) if terminal.tail else -1
        if at >= 0:
            new = output[at + len(terminal.tail) :]
        else:
            new = f"{CUT_MARK}{output}" if output else ""
    terminal.seen = len(output)
    terminal.tail = output[-TAIL_CHARS_MAX:]
    return new
