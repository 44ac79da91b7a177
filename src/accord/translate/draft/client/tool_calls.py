"""Tool calls of a v1 agent in the strict order of the draft.

The order: the call as pending, the request for permission, `in_progress`, the result.  Missing
steps are made up.  Agents of v1 often say `in_progress` with the call and ask right after it, so
that status is held back until the agent's next message, at most for `HOLD_SECONDS`.

What always holds
    * Every pair of successive statuses of a call that goes out is a step of the draft.
    * What was made up says so in `_meta`, so that a bridge behind can take it out again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.client.session_memory import Call, Session
from accord.translate.draft.conversion.meta_restore import keep_all
from accord.translate.draft.conversion.tool_calls import call_to_draft, patch_to_draft
from accord.translate.draft.tool_statuses import FINAL_STATUSES, STATUSES_FROM_DRAFT, steps_to
from accord.translate.message import CLIENT, Json, Message, Notification, Out, Request
from accord.translate.meta_store import DRAFT, kept

HOLD_SECONDS: Final = 0.1
# How long the announcement of a call waits while a model still writes its input, and until its
# tool describes it.
INPUT_SECONDS_MAX: Final = 10.0
_STATUSES: Final = frozenset({"pending", "in_progress", "completed", "failed"})
# The keys that name the resource in the input of common tools.
_RESOURCE_KEYS: Final = (
    *("resource", "command", "url", "uri"),
    *("path", "file_path", "pattern", "query"),
)
# Fields that the announcement has already.
_ANNOUNCED: Final = ("title", "kind", "name", "locations", "rawInput")


def told(session: Session, kind: str, data: Json) -> Out:
    """Make an update of the draft."""
    params = {"sessionId": session.id, "type": kind, "data": data}
    return CLIENT, Notification(SESSION_UPDATE, params)


class Calls:
    """Reports the progress of calls step by step."""

    def __init__(self, bridge: DraftBridge, shown: Callable[[str], Json | None]) -> None:
        """`shown` returns the output of a terminal, None while its command runs."""
        self._bridge = bridge
        self._shown = shown
        self.held: tuple[Session, Call, int] | None = None
        # A call whose announcement waits only for a permission request.
        self.ready: tuple[Session, Call] | None = None

    # ---- the held status

    def before(self, message: Message) -> Outs:
        """Return the delayed updates to send before the agent's next message."""
        outs: list[Out] = []
        if self.ready is not None:
            call = self.ready[1]
            if not _is_question(message, call) and not _is_update(message, call):
                outs += self.announce(*self.ready)
        if self.held is None:
            return outs
        _, call, timer = self.held
        if _is_question(message, call):
            # Permission is requested after all; the call is in progress once it is granted.
            self._bridge.timers.cancel(timer)
            self.held = None
            return outs
        return [*outs, *self.release()]

    def release(self) -> Outs:
        """Send the delayed status."""
        assert self.held is not None
        session, call, timer = self.held
        self._bridge.timers.cancel(timer)
        self.held = None
        return self.go(session, call, "in_progress")

    def _hold(self, session: Session, call: Call) -> None:
        at = self._bridge.after(HOLD_SECONDS)
        self.held = session, call, self._bridge.timers.start(at, self.release)

    # ---- what the agent says

    def announced(self, session: Session, update: Json, *, made: bool = False) -> list[Out]:
        """Take a call that the client does not know yet; `made`: the agent did not announce it."""
        call = session.call(update["toolCallId"])
        if self._may_wait(session, update) and not made:
            self._remember(call, update)
            return self._hold_back(session, call, update)
        return self._announced(session, call, update, made=made)

    def _may_wait(self, session: Session, update: Json) -> bool:
        """Whether to delay the announcement: for calls of our own agent that have not begun."""
        is_pending = update.get("status") in (None, "pending")
        return self._bridge.details and not session.loading and is_pending

    def _hold_back(self, session: Session, call: Call, update: Json) -> list[Out]:
        """Delay an announcement for its input, sent only once, and for a permission request."""
        timers = self._bridge.timers
        timers.cancel(call.timer)
        call.unsaid, call.is_forming = update, _is_forming(call, update)
        seconds = INPUT_SECONDS_MAX if call.is_forming else HOLD_SECONDS
        call.timer = timers.start(self._bridge.after(seconds), lambda: self.announce(session, call))
        if not call.is_forming:
            self.ready = session, call
        return []

    def announce(self, session: Session, call: Call, *, asks: bool = False) -> list[Out]:
        """Send a delayed announcement; `asks`: a permission request follows."""
        if call.unsaid is None:
            return []
        update, call.unsaid = call.unsaid, None
        self._bridge.timers.cancel(call.timer)
        if self.ready is not None and self.ready[1] is call:
            self.ready = None
        return self._announced(session, call, update, made=False, asks=asks)

    def announce_all(self, session: Session) -> list[Out]:
        """Send all delayed announcements at the end of the turn."""
        return [out for call in session.calls.values() for out in self.announce(session, call)]

    def _announced(
        self, session: Session, call: Call, update: Json, *, made: bool, asks: bool = False
    ) -> list[Out]:
        data = call_to_draft({"title": update["toolCallId"], **update})
        names = ("content", "rawOutput", "status")
        said: Json = {name: update[name] for name in names if name in update}
        keep_all(data, {"made": True} if made else said)
        if asks:
            data["requiresPermission"] = True
        outs = [told(session, "tool_call", data)]
        rest = {name: value for name, value in update.items() if name not in _ANNOUNCED}
        rest.pop("_meta", None)
        self._remember(call, update)
        return [*outs, *self._changed(session, call, rest, made=True)]

    def changed(self, session: Session, update: Json, *, made: bool = False) -> list[Out]:
        """Take a change of a call, and announce the call first if necessary."""
        call = session.calls.get(update["toolCallId"])
        if call is None:
            return self.announced(session, update, made=made)
        self._remember(call, update)
        if call.unsaid is None:
            return self._changed(session, call, update, made=made)
        merged = {**call.unsaid, **_said(update)}
        if self._may_wait(session, update) and (call.is_forming or "content" not in update):
            if "content" in update:
                # A tool describes the call and shows the change; a permission request follows.
                merged["content"] = update["content"]
            return self._hold_back(session, call, merged)
        call.unsaid = merged
        rest = {name: value for name, value in update.items() if name not in _ANNOUNCED}
        outs = self.announce(session, call)
        return [*outs, *self._changed(session, call, rest, made=made)]

    def _remember(self, call: Call, update: Json) -> None:
        call.kind = update.get("kind") or call.kind
        call.title = update.get("title") or call.title
        call.resource = named_resource(update.get("rawInput")) or call.resource
        locations = update.get("locations")
        if locations:
            call.path = locations[0]["path"]
        if update.get("content") is not None:
            call.shown = [one for one in update["content"] if one.get("type") != "content"]
        for content in update.get("content") or ():
            if content.get("type") == "terminal":
                call.terminal_id = content["terminalId"]
            elif content.get("type") == "content":
                call.text = str(content["content"].get("text") or "")

    def _changed(self, session: Session, call: Call, update: Json, *, made: bool) -> list[Out]:
        status = update.get("status")
        wanted = _wanted(session, call, status, kept(update, DRAFT).get("status"))
        steps = steps_to(call.status, wanted) if wanted is not None else ()
        patch = patch_to_draft(update, failed=wanted in FINAL_STATUSES - {"completed"})
        if made and len(patch) > 1:
            keep_all(patch, {"made": True})
        if steps == ("in_progress",) and not call.asked:
            self._hold(session, call)
            if len(patch) == 1:
                call.owed = not made
                return []
        elif steps:
            outs = [self._step(session, call, one) for one in steps[:-1]]
            call.status = patch["status"] = steps[-1]
            self._time(session, call, patch)
            self._show_terminal(call, patch)
            if self._bridge.details and call.status in ("failed", "denied") and call.text:
                patch.setdefault("error", call.text)
            if call.status in FINAL_STATUSES:
                call.shown, call.text = [], ""
            if status not in (None, steps[-1]):
                keep_all(patch, {"status": status})
            if made:
                keep_all(patch, {"made": True})
            return [*outs, told(session, "tool_call_update", patch)]
        if status is not None and not made and not self._bridge.details:
            keep_all(patch, {"status": status})
        return [told(session, "tool_call_update", patch)] if len(patch) > 1 else []

    # ---- what follows from elsewhere

    def go(self, session: Session, call: Call, wanted: str) -> list[Out]:
        """Send the steps to a status that the agent did not report."""
        outs = self.announce(session, call, asks=wanted == "awaiting_permission")
        return [*outs, *self._stepped(session, call, wanted)]

    def _stepped(self, session: Session, call: Call, wanted: str) -> list[Out]:
        return [self._step(session, call, one) for one in steps_to(call.status, wanted)]

    def _time(self, session: Session, call: Call, data: Json) -> None:
        """Note when the work began; at its end add how long it took."""
        if not self._bridge.details or session.loading:
            return
        now = self._bridge.around.now()
        if call.status == "in_progress":
            call.started = now
        elif call.status in FINAL_STATUSES and call.started is not None:
            data.setdefault("duration", round((now - call.started) * 1000))

    def _show_terminal(self, call: Call, patch: Json) -> None:
        """Add the output of the terminal, which is complete only at the end of the call."""
        if call.status in FINAL_STATUSES and call.terminal_id is not None:
            output = self._shown(call.terminal_id)
            if output is not None:
                patch.setdefault("output", output)

    def _step(self, session: Session, call: Call, status: str) -> Out:
        call.status = status
        data: Json = {"id": call.id, "status": status}
        self._time(session, call, data)
        if status == "in_progress" and call.owed:
            call.owed = False
        else:
            keep_all(data, {"made": True})
        return told(session, "tool_call_update", data)

    def cancelled(self, session: Session) -> list[Out]:
        """Cancel the calls that have not ended when a turn ends cancelled."""
        outs: list[Out] = []
        for call in session.calls.values():
            outs += self.go(session, call, "cancelled")
        return outs


def _is_question(message: Message, call: Call) -> bool:
    """Whether a message is a permission request for this call."""
    if not isinstance(message, Request) or message.method != "session/request_permission":
        return False
    tool_call: Any = message.params.get("toolCall")
    return isinstance(tool_call, dict) and tool_call.get("toolCallId") == call.id


def _is_update(message: Message, call: Call) -> bool:
    """Whether a message changes a call."""
    if not isinstance(message, Notification) or message.method != SESSION_UPDATE:
        return False
    update: Json = message.params["update"]
    return bool(update.get("toolCallId") == call.id)


def _is_forming(call: Call, update: Json) -> bool:
    """Whether a model still writes the call: until the tool begins, its title is the tool's name.

    A call that has its input from the start is not a model's.
    """
    name = update.get("name")
    is_bare = name is not None and name == update.get("title")
    return is_bare and (call.is_forming or update.get("rawInput") is None)


def _said(update: Json) -> Json:
    """Return the fields of an update that belong in the announcement."""
    return {name: update[name] for name in _ANNOUNCED if update.get(name) is not None}


def named_resource(given: Any) -> str | None:
    """Return the resource that the input of a call names."""
    if isinstance(given, dict):
        for name in _RESOURCE_KEYS:
            if isinstance(given.get(name), str):
                return str(given[name])
    return None


def _wanted(session: Session, call: Call, status: Any, exact: Any) -> str | None:
    """Return the draft's status for one of v1, which depends on the earlier statuses."""
    if status not in _STATUSES:
        return None
    if exact in FINAL_STATUSES and STATUSES_FROM_DRAFT[exact] == status:
        # A call that the user has denied is not cancelled.
        return "denied" if exact == "cancelled" and call.rejected else str(exact)
    if status == "failed" and call.rejected:
        return "denied"
    if status == "failed" and session.turn is not None and session.turn.cancelled:
        return "cancelled"
    return str(status)
