"""The tool calls of one session as plain JSON, and what was approved of them.

`guard` and the translators read messages and not structs; this stands between them and the one
matcher in `client/permissions/approvals.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from accord.client.permissions.approvals import Act, Approvals, approve
from accord.client.permissions.commands import terminal_line
from accord.client.permissions.policy import Facts
from accord.client.permissions.request import PermissionRequest
from accord.proxy.builtin.permission_facts import (
    Json,
    brief,
    changes_of,
    merged,
    of_call,
    of_service,
    texts_of,
)

CALLS_MAX: Final = 1024
"""Tool calls of a session that are remembered; the oldest are forgotten first."""
FINAL: Final = frozenset({"completed", "failed", "cancelled"})


class ApprovedCalls:
    """Guards: an approval is for a call as it was told when the answer came."""

    def __init__(self, folder: str | None) -> None:
        """`folder` is where the session works, if that is known."""
        self.folder = None if folder is None else os.path.realpath(folder)
        self._calls: dict[str, Json] = {}
        # Calls that the user is being asked about; changed ones are taken out.
        self._open: list[Json] = []
        self._approvals = Approvals()

    def told(self, patch: Json) -> Json:
        """Learn of a tool call or of a patch of one; the call as it is known now."""
        call_id = str(patch.get("toolCallId"))
        known = self._calls.pop(call_id, {})
        self._calls[call_id] = now = merged(known, brief(patch))
        if not _is_same(known, now):
            self._open = [one for one in self._open if str(one.get("toolCallId")) != call_id]
        if len(self._calls) > CALLS_MAX:
            del self._calls[next(iter(self._calls))]
        return now

    def shown(self, call_id: str, item: Any) -> Json:
        """Learn of one more content item of a call; the call as it is known now."""
        before = self._calls.get(call_id, {}).get("content", [])
        more = brief({"content": [item]})["content"]
        return self.told({"toolCallId": call_id, "content": [*before, *more]})

    def open(self, call: Json) -> None:
        """The user is asked about this call, as it was told."""
        self._open = [*self._open[1 - CALLS_MAX :], call]

    def close(self, call: Json) -> bool:
        """The question is over; whether the call is still what it was when the user was asked."""
        before = len(self._open)
        self._open = [one for one in self._open if one is not call]
        return len(self._open) < before

    def allow(self, request: PermissionRequest, call: Json, *, seen: bool) -> None:
        """A request about this call was approved; with `seen` by the user, else by a rule."""
        call_id = call.get("toolCallId")
        approval = approve(
            request,
            Facts.of(request, self.folder),
            seen=seen,
            texts=texts_of(call),
            changes=changes_of(call),
            call_id=None if call_id is None else str(call_id),
            is_over=None if call_id is None else lambda: self._is_over(str(call_id)),
        )
        self._approvals.add(approval)

    def refuse(self, call: Json) -> None:
        """A request about this call was not approved: what was approved of it before is not."""
        self._approvals.drop(str(call.get("toolCallId")))

    def _is_over(self, call_id: str) -> bool:
        return self._calls.get(call_id, {}).get("status") in FINAL

    def covers(self, facts: Facts, content: object = None) -> bool:
        """Whether an approval covers an act; if so it is used up."""
        return self._approvals.spend(Act.of(facts, content if isinstance(content, str) else None))

    def clear(self) -> None:
        """Forget every approval."""
        self._approvals.clear()


class SessionApprovals:
    """The same for a translator; see `translate.message.Approvals`."""

    def __init__(self, cwd: str) -> None:
        self._calls = ApprovedCalls(cwd)

    def told(self, call: Json) -> None:
        """Learn of a tool call, or of a patch of one."""
        self._calls.told(call)

    def asked(self, call: Json) -> Callable[[bool], None]:
        """The client is asked about this call; what is returned is told whether it said yes."""
        told = self._calls.told(call)
        self._calls.open(told)

        def answered(is_allowed: bool) -> None:
            is_same = self._calls.close(told)
            if not is_allowed:
                self._calls.refuse(told)
            elif is_same:
                self._allowed(told)

        return answered

    def _allowed(self, call: Json) -> None:
        """The client said yes to this call.

        Whether a person or a rule of the client's did is not known, so a text counts only where
        the client knew that it judges a command, and was given no other one and no changes.
        """
        request = of_call("", call)
        is_all = request.command is None and not changes_of(call)
        self._calls.allow(request, call, seen=request.kind == "execute" and is_all)

    def covers(self, method: str, params: Json) -> bool:
        """Whether an allowed call covers this request; if so it is used up."""
        request = of_service("", method, params)
        if request is None:
            return False
        return self._calls.covers(Facts.of(request, self._calls.folder), params.get("content"))

    def clear(self) -> None:
        """The turn is over."""
        self._calls.clear()


def _is_same(before: Json, now: Json) -> bool:
    """Whether a call is about the same; its status is no part of that."""
    return {**before, "status": None} == {**now, "status": None}


def command_line(params: Json) -> str:
    """The command that `terminal/create` with these params would run."""
    env = {one["name"]: one["value"] for one in params.get("env") or ()}
    return terminal_line(params["command"], params.get("args") or (), env)


__all__ = ["FINAL", "ApprovedCalls", "SessionApprovals", "command_line"]
