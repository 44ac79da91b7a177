"""The tool calls of one session as plain JSON, and their approvals.

`guard` and the translators work with JSON and not with structs; this module adapts them to the
matcher in `client/permissions/approvals.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from accord.client.permissions.approvals import Act, Approvals, approve
from accord.client.permissions.command_patterns import terminal_line
from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.rule_matcher import Facts
from accord.proxy.permission_facts import (
    Json,
    brief,
    changes_of,
    merged,
    of_call,
    of_service,
    texts_of,
)

CALLS_MAX: Final = 1024
"""The oldest tool calls of a session are forgotten first."""
FINAL: Final = frozenset({"completed", "failed", "cancelled"})


class ApprovedCalls:
    """Guards: an approval covers a call as it was known when the answer arrived."""

    def __init__(self, folder: str | None) -> None:
        """Create the state of a session that works in `folder`, if that is known."""
        self.folder = None if folder is None else os.path.realpath(folder)
        self._calls: dict[str, Json] = {}
        # Calls that the user is being asked about; a call that changes is removed.
        self._open: list[Json] = []
        self._approvals = Approvals()

    def told(self, patch: Json) -> Json:
        """Record a tool call or a patch of one; return the call as it is known now."""
        call_id = str(patch.get("toolCallId"))
        known = self._calls.pop(call_id, {})
        self._calls[call_id] = now = merged(known, brief(patch))
        if not _is_same(known, now):
            self._open = [one for one in self._open if str(one.get("toolCallId")) != call_id]
        if len(self._calls) > CALLS_MAX:
            del self._calls[next(iter(self._calls))]
        return now

    def shown(self, call_id: str, item: Any) -> Json:
        """Record one more content item of a call; return the call as it is known now."""
        before = self._calls.get(call_id, {}).get("content", [])
        more = brief({"content": [item]})["content"]
        return self.told({"toolCallId": call_id, "content": [*before, *more]})

    def open(self, call: Json) -> None:
        """Note that the user is asked about this call."""
        self._open = [*self._open[1 - CALLS_MAX :], call]

    def close(self, call: Json) -> bool:
        """End the question; return whether the call has not changed since the user was asked."""
        before = len(self._open)
        self._open = [one for one in self._open if one is not call]
        return len(self._open) < before

    def allow(self, request: PermissionRequest, call: Json, *, seen: bool) -> None:
        """Approve a request about this call; with `seen` the user did, else a rule."""
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
        """Refuse a request about this call, and revoke earlier approvals of it."""
        self._approvals.drop(str(call.get("toolCallId")))

    def _is_over(self, call_id: str) -> bool:
        return self._calls.get(call_id, {}).get("status") in FINAL

    def covers(self, facts: Facts, content: object = None) -> bool:
        """Whether an approval covers an action; if so, the approval is used up."""
        return self._approvals.spend(Act.of(facts, content if isinstance(content, str) else None))

    def clear(self) -> None:
        self._approvals.clear()


class SessionApprovals:
    """The approvals of a session for a translator; see `translate.message.Approvals`."""

    def __init__(self, cwd: str) -> None:
        self._calls = ApprovedCalls(cwd)

    def told(self, call: Json) -> None:
        """Record a tool call or a patch of one."""
        self._calls.told(call)

    def asked(self, call: Json) -> Callable[[bool], None]:
        """Note that the client is asked; call the returned function with its answer."""
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
        """Approve a call that the client allowed.

        It is not known whether a person or a rule of the client did so.  A text therefore counts
        only if the client saw that it is a command, and saw no other command and no changes.
        """
        request = of_call("", call)
        is_all = request.command is None and not changes_of(call)
        self._calls.allow(request, call, seen=request.kind == "execute" and is_all)

    def covers(self, method: str, params: Json) -> bool:
        """Whether an allowed call covers this request; if so, the approval is used up."""
        request = of_service("", method, params)
        if request is None:
            return False
        return self._calls.covers(Facts.of(request, self._calls.folder), params.get("content"))

    def clear(self) -> None:
        """Forget every approval at the end of the turn."""
        self._calls.clear()


def _is_same(before: Json, now: Json) -> bool:
    """Whether two versions of a call differ at most in status."""
    return {**before, "status": None} == {**now, "status": None}


def command_line(params: Json) -> str:
    """Return the command line that `terminal/create` with these params would run."""
    env = {one["name"]: one["value"] for one in params.get("env") or ()}
    return terminal_line(params["command"], params.get("args") or (), env)
