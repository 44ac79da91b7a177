"""Clients of both versions that break one rule each, as subclasses of the right ones."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

from tests.kit_accuracy.client_v1 import PIXEL, Client, whole_logins
from tests.kit_accuracy.client_v2 import ClientV2
from tests.kit_accuracy.line_peer import (
    AUTH_REQUIRED,
    METHOD_NOT_FOUND,
    Json,
    Peer,
    RpcError,
    log,
)

PROTOCOLS = ("anthropic", "openai", "azure", "vertex", "bedrock")
LOGIN_SECONDS = 20


class EveryBadLinePeer(Peer):
    def take(self, line: bytes) -> None:
        self.in_bad_run = False
        super().take(line)


class EveryBadLine(Client):
    """TR-STDIO-08: answers every line of a run of bad lines."""

    peer_type = EveryBadLinePeer


class OldestVersion(Client):
    """V1-INIT-02: asks for version 0, and goes on with 1."""

    def introduction(self) -> Json:
        return {**super().introduction(), "protocolVersion": 0}


class OwnMode(Client):
    """V1-MODE-02: sets the mode auto in every session, whatever modes it has."""

    def open_session(self, methods: Any) -> None:
        super().open_session(methods)
        params = {"sessionId": self.session_id, "modeId": "auto"}
        try:
            self.peer.call("session/set_mode", params)
        except RpcError as error:
            log(f"the mode stays as it is: {error.message}")


class AddressNotFound(Client):
    """V1-ELIC-02b: answers an elicitation by URL with -32601."""

    def elicit(self, params: Json) -> Json:
        if params.get("mode") == "url":
            raise RpcError(METHOD_NOT_FOUND, "Only forms are supported.")
        return super().elicit(params)


class RememberedAnswer(Client):
    """V1-GEN-09: adds a key of its own, remember, to the answer of a permission request."""

    def ask(self, params: Json, request_id: Any) -> Any:
        decide = super().ask(params, request_id)
        return lambda: {**decide(), "remember": False}


class Recording(Client):
    """V1-PROMPT-02b: attaches a recording, whatever the agent takes."""

    def blocks(self) -> list[Json]:
        return [*super().blocks(), {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}]


class LoginWithoutRetry(Client):
    """V1-AUTH-12: logs in when the agent asks for it, and does not try again."""

    def open_session(self, methods: Any) -> None:
        params = {"cwd": self.cwd, "mcpServers": []}
        try:
            self.session_id = str(self.peer.call("session/new", params).get("sessionId"))
        except RpcError as error:
            usable = self.usable_logins(methods)
            if error.code == AUTH_REQUIRED and usable:
                self.peer.call("authenticate", {"methodId": usable[0]["id"]})
                log("logged in; please start again")
            raise


class LastResortLogin(Client):
    """V1-AUTH-03b: passes a login by terminal to authenticate when there is no other."""

    def introduction(self) -> Json:
        told = super().introduction()
        told["clientCapabilities"]["auth"] = {"terminal": True}
        return told

    def usable_logins(self, methods: Any) -> list[Json]:
        return super().usable_logins(methods) or whole_logins(methods, "id")


class UnboundedPattern(Client):
    """V1-ELIC-21: tries the patterns of a form on its defaults, however long that takes."""

    def elicit(self, params: Json) -> Json:
        schema = params.get("requestedSchema")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for each in properties.values() if isinstance(properties, dict) else []:
            pattern, value = each.get("pattern"), each.get("default")
            if isinstance(pattern, str) and isinstance(value, str):
                fits = re.search(pattern, value) is not None
                log(f"the default {'fits' if fits else 'does not fit'}")
        return super().elicit(params)


class KnownProtocols(Client):
    """V1-PROV-09: gives up when a provider has a protocol that it does not know."""

    def open_session(self, methods: Any) -> None:
        if isinstance(self.offers.get("providers"), dict):
            listed = self.peer.call("providers/list", {}).get("providers")
            for each in listed if isinstance(listed, list) else []:
                for protocol in each.get("supported") or []:
                    if protocol not in PROTOCOLS:
                        raise RpcError(-32603, f"there is no protocol {protocol}")
        super().open_session(methods)


class LazyInitialize(Client):
    """V1-INIT-01: initializes the connection when its session/new was refused."""

    def talk(self) -> int:
        params = {"cwd": self.cwd, "mcpServers": []}
        try:
            answer = self.peer.call("session/new", params)
        except RpcError:
            return super().talk()
        self.session_id = str(answer.get("sessionId"))
        self.prompt()
        return 0


class SilentArrayPeer(Peer):
    def take_other(self, message: Any) -> None:
        if isinstance(message, list):
            log("an array was skipped")
        else:
            super().take_other(message)


class SilentArray(ClientV2):
    """V2-GEN-06: skips arrays, and answers nothing."""

    peer_type = SilentArrayPeer


class ControlC(ClientV2):
    """TR-STDIO-04b: writes Ctrl-C to the agent before it cancels."""

    def cancel_when_told(self) -> None:
        self.cancel_wanted.wait()
        with self.peer.writing:
            self.peer.writer.write(b"\x03\n")
            self.peer.writer.flush()
        super().cancel_when_told()


class FractionPeer(Peer):
    def take_object(self, message: Json) -> None:
        if isinstance(message.get("id"), float) and isinstance(message.get("method"), str):
            self.answer(message)
        else:
            super().take_object(message)


class FractionId(ClientV2):
    """V2-GEN-01: answers a request whose id has a fraction as any other."""

    peer_type = FractionPeer


class ResumeWithoutRoots(ClientV2):
    """V2-SESS-06b: resumes a session in its folder, and without its further roots."""

    def __init__(self, command: list[str], broken: str, purpose: str) -> None:
        super().__init__(command, broken, purpose)
        self.peer.before_send = self.without_roots

    def without_roots(self, message: Json) -> Json:
        if message.get("method") != "session/resume":
            return message
        params = dict(message["params"])
        params.pop("additionalDirectories", None)
        return {**message, "params": params}


class SameConnection(ClientV2):
    """V2-AUTH-07: logs in by terminal, and tries again on the same connection."""

    def __init__(self, command: list[str], broken: str, purpose: str) -> None:
        super().__init__(command, broken, purpose)
        self.command = command

    def introduction(self) -> Json:
        told = super().introduction()
        told["capabilities"]["auth"] = {"terminal": {}}
        return told

    def open_session(self, methods: Any) -> None:
        terminal = [
            each for each in whole_logins(methods, "methodId") if each.get("type") == "terminal"
        ]
        if not terminal:
            super().open_session(methods)
            return
        try:
            answer = self.peer.call("session/new", {"cwd": self.cwd})
        except RpcError as error:
            if error.code != AUTH_REQUIRED:
                raise
            self.log_in(terminal[0])
            answer = self.peer.call("session/new", {"cwd": self.cwd})
        self.session_id = str(answer.get("sessionId"))

    def log_in(self, login: Json) -> None:
        env = {each["name"]: each["value"] for each in login.get("env") or []}
        done = subprocess.run(
            [*self.command, *(login.get("args") or [])],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=LOGIN_SECONDS,
        )
        if done.returncode != 0:
            raise RpcError(AUTH_REQUIRED, "the login failed")


class OwnAudience(ClientV2):
    """V2-GEN-08c: annotates its prompt for the audience agent."""

    def blocks(self) -> list[Json]:
        return [{**each, "annotations": {"audience": ["agent"]}} for each in super().blocks()]


class AnyLogin(ClientV2):
    """V2-AUTH-05: passes the first login of the list to auth/login, also one by terminal."""

    def introduction(self) -> Json:
        told = super().introduction()
        told["capabilities"]["auth"] = {"terminal": {}}
        return told

    def usable_logins(self, methods: Any) -> list[Json]:
        return whole_logins(methods, "methodId")


class EarlyList(ClientV2):
    """V2-INIT-11b: asks for the list of sessions before it looks whether there are any."""

    def initialize(self) -> Json:
        answer = super().initialize()
        if answer.get("protocolVersion") != 2:
            return answer
        try:
            self.peer.call("session/list", {})
        except RpcError as error:
            log(f"there is no list of sessions: {error.message}")
        return answer


CLIENTS: dict[str, type[Client]] = {
    "TR-STDIO-08": EveryBadLine,
    "V1-INIT-02": OldestVersion,
    "V1-MODE-02": OwnMode,
    "V1-ELIC-02b": AddressNotFound,
    "V1-GEN-09": RememberedAnswer,
    "V1-PROMPT-02b": Recording,
    "V1-AUTH-12": LoginWithoutRetry,
    "V1-AUTH-03b": LastResortLogin,
    "V1-ELIC-21": UnboundedPattern,
    "V1-PROV-09": KnownProtocols,
    "V1-INIT-01": LazyInitialize,
}
CLIENTS_V2: dict[str, type[ClientV2]] = {
    "V2-GEN-06": SilentArray,
    "TR-STDIO-04b": ControlC,
    "V2-GEN-01": FractionId,
    "V2-SESS-06b": ResumeWithoutRoots,
    "V2-AUTH-07": SameConnection,
    "V2-GEN-08c": OwnAudience,
    "V2-AUTH-05": AnyLogin,
    "V2-INIT-11b": EarlyList,
}
