"""Stand-ins for `Permissions`, for tests of what surrounds a decision."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from accord.client.permissions.request import Decision, PermissionRequest
from accord.transcript.items.tool_call import FileDiff, ToolCall


class Decider:
    """Decides by a function, and remembers what it was asked."""

    def __init__(self, choose: Callable[[PermissionRequest], str | None]) -> None:
        self._choose = choose
        self.asked: list[PermissionRequest] = []

    async def decide(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return Decision(self._choose(request))


class Undecided:
    """Never decides; `asking` is set when it was asked."""

    def __init__(self) -> None:
        self.asking = anyio.Event()
        self.asked: list[PermissionRequest] = []

    async def decide(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        self.asking.set()
        await anyio.sleep_forever()
        raise AssertionError


__all__ = ["Decider", "Undecided"]


def also_changes(call: ToolCall, diff: FileDiff) -> None:
    """Let a tool call show one more change."""
    diffs = [*call.diffs, diff]
    call.replace_content([None], lambda _item: diffs)
