"""A small client of v1 that lists, closes and takes up its session again without being told."""

import os
from typing import Any

from tests.defects.clients.v1.client import ClientV1
from tests.defects.stdio_jsonrpc import Call, Json, Work

BRIEFLY: Json = {"mode": "append", "content": [{"type": "text", "text": "Answer briefly."}]}


class WorksOn(ClientV1):
    """Uses whatever the agent offers, and no more."""

    worked_on = False

    def place(self) -> Json:
        whole = super().place()
        if self.offers("sessionCapabilities", "additionalDirectories"):
            whole["additionalDirectories"] = ["/usr", "/etc"]
        if self.offers("sessionCapabilities", "systemPrompt"):
            whole["systemPrompt"] = BRIEFLY
        return whole

    def place_again(self) -> Json:
        return self.place()

    def step_prompt(self) -> Work:
        yield from super().step_prompt()
        if self.steps in ((), ("prompt",)) and not self.worked_on:
            self.worked_on = True
            yield from self.list_all()
            if self.offers("sessionCapabilities", "close"):
                yield Call("session/close", self.here())
                yield from self.take_up()

    def list_all(self) -> Work:
        if not self.offers("sessionCapabilities", "list"):
            return
        page = yield Call("session/list", {"cwd": os.getcwd()})
        while (cursor := self.cursor(page)) is not None:
            page = yield Call("session/list", {"cwd": os.getcwd(), "cursor": cursor})

    def cursor(self, page: Json) -> Any:
        return page.get("nextCursor")

    def status(self) -> Work:
        if not self.offers("sessionCapabilities", "status"):
            return "saved"
        answer = yield Call("session/status", self.here())
        return answer["status"]

    def take_up(self) -> Work:
        yield from self.status()
        if self.offers("loadSession"):
            yield Call("session/load", {**self.here(), **self.place_again()})
            yield from self.ask()
