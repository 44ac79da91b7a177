"""Files and terminals of this machine, for an agent that asks its client for them.

v2 has no such requests, so the host serves them, in v1's words, as far as the client allows it
(`permissions.py`).  A terminal that it runs is shown to the client as one of the agent's own.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.translate.adapter import NOTHING, Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Out,
    Request,
    Result,
)
from accord.translate.v1_agent.host.permissions import HostPermissions
from accord.translate.v1_agent.session_state import Core, Session, not_found
from accord.translate.v1_agent.turns import Turns

TERMINALS: Final = ("terminal/output", "terminal/wait_for_exit", "terminal/kill")


class Terminals:
    """The terminals that the host runs, by id, with the session they belong to."""

    def __init__(
        self, core: Core, turns: Turns, permissions: HostPermissions, host: frozenset[str]
    ) -> None:
        self._core = core
        self._turns = turns
        self._permissions = permissions
        self._running: dict[str, Session] = {}
        core.on_request[CLIENT, "terminal/cancel"] = self._cancel
        if "fs" in host:
            core.on_request[AGENT, "fs/read_text_file"] = self._pass
            core.on_request[AGENT, "fs/write_text_file"] = self._write
        if "terminal" in host:
            for method in TERMINALS:
                core.on_request[AGENT, method] = self._pass
            core.on_request[AGENT, "terminal/create"] = self._create
            core.on_request[AGENT, "terminal/release"] = self._release
            core.on_notification[HOST, "host/terminal_output"] = self._output
            core.on_notification[HOST, "host/terminal_exit"] = self._exit

    def _session(self, request: Request) -> Session:
        session = self._core.sessions.get(request.params["sessionId"])
        if session is None or session.closing or not session.alive:
            raise not_found(request.params["sessionId"])
        return session

    def _pass(self, request: Request) -> Outs:
        inserted = self._turns.insert(self._session(request))
        return [*inserted, *self._core.pass_on(AGENT, request, HOST)]

    def _write(self, request: Request) -> Outs:
        session = self._session(request)
        return [*self._turns.insert(session), *self._permissions.write(session, request)]

    def _create(self, request: Request) -> Outs:
        session = self._session(request)
        params = request.params
        words = [params["command"], *(params.get("args") or [])]
        command = shlex.join(words) if len(words) > 1 else words[0]
        line = self._core.around.command_line(params)
        cwd: str = params.get("cwd") or session.cwd

        def then(answer: Answer) -> Outs:
            answered = self._core.answer(AGENT, request.key, answer)
            if isinstance(answer, Failure):
                return [answered]
            terminal_id: str = answer.result["terminalId"]
            session.shows(terminal_id)
            self._running[terminal_id] = session
            update: Json = {
                "sessionUpdate": "terminal_update",
                "terminalId": terminal_id,
                "command": command,
                "cwd": cwd,
                "capabilities": {"cancel": {}},
            }
            return [self._core.tell(session, update), answered]

        def go() -> Outs:
            return [
                self._core.ask(HOST, request.method, params, then, instead_of=request, of=AGENT)
            ]

        inserted = self._turns.insert(session)
        return [*inserted, *self._permissions.run(session, request, line, cwd, go)]

    def _release(self, request: Request) -> Outs:
        self._session(request)
        terminal_id: str = request.params["terminalId"]

        def then(answer: Answer) -> Outs:
            outs = [self._core.answer(AGENT, request.key, answer)]
            if isinstance(answer, Result):
                outs += self._exit({"terminalId": terminal_id})
            return outs

        return [
            self._core.ask(HOST, request.method, request.params, then, instead_of=request, of=AGENT)
        ]

    def _output(self, params: Json) -> Outs:
        session = self._running.get(params["terminalId"])
        if session is None:
            return NOTHING
        update: Json = {"sessionUpdate": "terminal_output_chunk", **params}
        return [self._core.tell(session, update)]

    def _exit(self, params: Json) -> Outs:
        session = self._running.pop(params["terminalId"], None)
        if session is None:
            return NOTHING
        status = {
            name: params[name] for name in ("exitCode", "signal") if params.get(name) is not None
        }
        update: Json = {
            "sessionUpdate": "terminal_update",
            "terminalId": params["terminalId"],
            "exitStatus": status,
            "capabilities": {},
        }
        return [self._core.tell(session, update)]

    def _cancel(self, request: Request) -> Outs:
        params = request.params
        session = self._running.get(params["terminalId"])
        if session is None or session.id != params["sessionId"]:
            raise CannotTranslate(
                INVALID_PARAMS, "this terminal cannot be cancelled", {**_named(params)}
            )

        def then(answer: Answer) -> Outs:
            return [self._core.answer(CLIENT, request.key, answer)]

        return [self._core.ask(HOST, "terminal/kill", params, then, instead_of=request, of=CLIENT)]

    def closed(self, session: Session) -> Outs:
        """End the commands of a session that was closed."""
        outs: list[Out] = []
        for terminal_id in [id_ for id_, one in self._running.items() if one is session]:
            outs += self._exit({"terminalId": terminal_id})
            params: Json = {"sessionId": session.id, "terminalId": terminal_id}
            outs.append(self._core.ask(HOST, "terminal/release", params, lambda _: NOTHING))
        session.terminals.clear()
        return outs


def _named(params: Json) -> dict[str, Any]:
    return {"terminalId": params["terminalId"]}
