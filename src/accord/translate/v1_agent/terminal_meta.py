"""Terminals that a v1 agent runs itself and reports in `_meta` of its tool calls.

v1's terminals are the client's.  Agents that run commands on their own have a custom that some
editors know: `terminal_info`, `terminal_output` and `terminal_exit` beside the call that shows the
terminal.  v2 has terminals of the agent's own, so they are said as such; `_meta` stays as it is.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from accord.translate.message import Json
from accord.translate.v1_agent.session_state import Session


def shown_terminals(session: Session, update: Json) -> list[Json]:
    """Return the updates of terminals in the metadata of a tool call, in order."""
    meta = update.get("_meta")
    if not isinstance(meta, dict):
        return []
    said: list[Json] = []
    terminal_id, info = _named(meta, "terminal_info")
    if terminal_id is not None:
        session.shows(terminal_id)
        cwd = info.get("cwd")
        said.append(
            {
                "sessionUpdate": "terminal_update",
                "terminalId": terminal_id,
                "command": _command(update),
                "cwd": cwd if isinstance(cwd, str) and cwd.startswith("/") else session.cwd,
            }
        )
    terminal_id, output = _named(meta, "terminal_output")
    if terminal_id in session.terminals and isinstance(output.get("data"), str):
        data = b64encode(output["data"].encode("utf-8", "replace")).decode("ascii")
        chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id, "data": data}
        said.append(chunk)
    terminal_id, ended = _named(meta, "terminal_exit")
    if terminal_id in session.terminals:
        said.append(
            {
                "sessionUpdate": "terminal_update",
                "terminalId": terminal_id,
                "exitStatus": _status(ended),
            }
        )
    return said


def _named(meta: Json, name: str) -> tuple[str | None, Json]:
    found = meta.get(name)
    if not isinstance(found, dict) or not isinstance(found.get("terminal_id"), str):
        return None, {}
    return found["terminal_id"] or None, found


def _command(update: Json) -> str:
    raw_input = update.get("rawInput")
    command: Any = raw_input.get("command") if isinstance(raw_input, dict) else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    return command if isinstance(command, str) and command else update.get("title") or ""


def _status(ended: Json) -> Json:
    code, signal = ended.get("exit_code"), ended.get("signal")
    status: Json = {}
    if isinstance(code, int) and not isinstance(code, bool) and code >= 0:
        status["exitCode"] = code
    if isinstance(signal, str):
        status["signal"] = signal
    return status
