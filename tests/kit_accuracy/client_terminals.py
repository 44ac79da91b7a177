"""The terminals that a client of version 1 lends to its agent."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import Any

from tests.kit_accuracy.line_peer import INVALID_PARAMS, NOT_FOUND, Json, RpcError, need


class Terminal:
    """A command, and the newest bytes of its output."""

    def __init__(
        self, argv: list[str], env: Json, cwd: str, limit: int | None, broken: str
    ) -> None:
        self.limit, self.broken = limit, broken
        self.output = b""
        self.truncated = False
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.ended = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        assert self.process.stdout is not None
        while piece := os.read(self.process.stdout.fileno(), 65536):
            self.output += piece
            if self.limit is not None and len(self.output) > self.limit:
                self.truncated = True
                if self.broken == "V1-TERM-03":
                    self.output = self.output[: self.limit]
                else:
                    self.output = self.output[len(self.output) - self.limit :]
                    while self.output and self.output[0] & 0xC0 == 0x80:
                        if self.broken == "V1-TERM-03b":
                            break
                        self.output = self.output[1:]
        self.process.wait()
        self.ended.set()

    def status(self) -> Json:
        code = self.process.returncode
        if code is not None and code < 0:
            return {"signal": signal.Signals(-code).name}
        return {"exitCode": code}

    def kill(self) -> None:
        if not self.ended.is_set():
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


class Terminals:
    """All terminals of one client, by id."""

    def __init__(self, cwd: str, broken: str) -> None:
        self.cwd, self.broken = cwd, broken
        self.terminals: dict[str, Terminal] = {}
        self.count = 0

    def create(self, params: Json) -> Json:
        command = need(params, "command", str)
        args = params.get("args") or []
        env = params.get("env") or []
        cwd, limit = params.get("cwd"), params.get("outputByteLimit")
        good = isinstance(args, list) and all(isinstance(each, str) for each in args)
        good = good and (cwd is None or (isinstance(cwd, str) and os.path.isabs(cwd)))
        good = good and (limit is None or (type(limit) is int and limit >= 0))
        if not good or not isinstance(env, list):
            raise RpcError(INVALID_PARAMS, "The terminal is not described well.")
        variables = {need(each, "name", str): need(each, "value", str) for each in env}
        self.count += 1
        terminal_id = f"term-{self.count}"
        try:
            terminal = Terminal([command, *args], variables, cwd or self.cwd, limit, self.broken)
        except OSError as error:
            raise RpcError(-32603, f"The command could not be started: {error.strerror}") from error
        self.terminals[terminal_id] = terminal
        if self.broken == "V1-TERM-02":
            terminal.ended.wait()
        return {"terminalId": terminal_id}

    def named(self, params: Json) -> Terminal:
        terminal_id = need(params, "terminalId", str)
        if terminal_id not in self.terminals:
            raise RpcError(NOT_FOUND, "There is no such terminal.")
        return self.terminals[terminal_id]

    def show(self, params: Json) -> Json:
        terminal = self.named(params)
        ended = terminal.ended.is_set()
        text = terminal.output.decode("utf-8", "replace")
        shown: Json = {"output": text, "truncated": terminal.truncated}
        early = self.broken == "V1-TERM-09"
        return {**shown, "exitStatus": terminal.status()} if ended or early else shown

    def wait(self, params: Json) -> Any:
        terminal = self.named(params)

        def waiting() -> Json | None:
            if self.broken == "V1-TERM-04":
                return None
            terminal.ended.wait()
            return terminal.status()

        return waiting

    def kill(self, params: Json) -> Json:
        self.named(params).kill()
        if self.broken == "V1-TERM-05":
            del self.terminals[params["terminalId"]]
        return {}

    def release(self, params: Json) -> Json:
        terminal = self.named(params)
        if self.broken != "V1-TERM-06b":
            terminal.kill()
        if self.broken != "V1-TERM-06":
            del self.terminals[params["terminalId"]]
        return {}

    def end(self) -> None:
        for terminal in self.terminals.values():
            terminal.kill()
