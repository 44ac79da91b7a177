"""The terminals of the small client: processes whose newest output is kept."""

import os
import signal
import threading
from typing import Any

from tests.defects.stdio_jsonrpc import OPEN_MAX, Json, Peer, Refused

KEPT_BYTES = 2**20


class Terminal:
    """One command."""

    def __init__(self, params: Json) -> None:
        import subprocess

        limit = params.get("outputByteLimit")
        self.limit = KEPT_BYTES if limit is None else limit
        self.data = b""
        self.truncated = False
        env = {one["name"]: one["value"] for one in params.get("env") or []}
        self.process = subprocess.Popen(
            [params["command"], *(params.get("args") or [])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=params.get("cwd"),
            env=env or None,
            start_new_session=True,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        while chunk := self.process.stdout.read1(65_536):  # type: ignore[attr-defined]
            self.data += chunk
            if len(self.data) > self.limit:
                self.truncated = True
                self.data = self.cut(self.data)

    def cut(self, data: bytes) -> bytes:
        kept = data[len(data) - self.limit :]
        while kept and kept[0] & 0xC0 == 0x80:
            kept = kept[1:]
        return kept

    def status(self) -> Json | None:
        code = self.process.poll()
        if code is None:
            return None
        # Unless somebody else keeps the pipe open, its output is whole then.
        self.reader.join(1)
        return {"exitCode": code} if code >= 0 else {"signal": str(-code)}

    def wait(self) -> Json:
        self.process.wait()
        return self.status() or {}

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Terminals(Peer):
    """What a client serves of `terminal/*`."""

    waits_max = OPEN_MAX

    def __init__(self) -> None:
        super().__init__()
        self.terminals: dict[str, Terminal] = {}
        self.waits = 0

    def terminal(self, params: Json) -> Terminal:
        found = self.terminals.get(str(params.get("terminalId")))
        if found is None:
            raise Refused(-32002, "Resource not found")
        return found

    def request_terminal_create(self, params: Json) -> Json:
        name = f"terminal-{len(self.terminals) + 1}"
        try:
            self.terminals[name] = Terminal(params)
        except OSError as error:
            raise Refused(-32603, f"the command does not start: {error}") from None
        return {"terminalId": name}

    def request_terminal_output(self, params: Json) -> Json:
        terminal = self.terminal(params)
        # Asked first: with the status of a command that has ended, its output is whole.
        status = terminal.status()
        text = terminal.data.decode("utf-8", "replace")
        more = {} if status is None else {"exitStatus": status}
        return {"output": text, "truncated": terminal.truncated, **more}

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if method == "terminal/wait_for_exit" and isinstance(params, dict):
            self.wait_for_exit(request_id, params)
        else:
            super().requested(request_id, method, params)

    def wait_for_exit(self, request_id: int | str, params: Json) -> None:
        try:
            terminal = self.terminal(params)
            if self.waits >= self.waits_max:
                raise Refused(-32603, "too many requests", {"reason": "too_many_requests"})
        except Refused as refused:
            self.refuse(request_id, refused.error)
            return
        self.waits += 1
        wait = threading.Thread(
            target=self.answer_at_exit, args=(request_id, terminal), daemon=True
        )
        wait.start()

    def answer_at_exit(self, request_id: int | str, terminal: Terminal) -> None:
        self.answer(request_id, terminal.wait())
        self.waits -= 1

    def request_terminal_kill(self, params: Json) -> Json:
        self.terminal(params).kill()
        return {}

    def request_terminal_release(self, params: Json) -> Json:
        self.terminal(params).kill()
        del self.terminals[params["terminalId"]]
        return {}

    def end(self) -> None:
        for terminal in self.terminals.values():
            terminal.kill()
