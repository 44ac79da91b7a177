"""Plans: v1 has one list of tasks; v2 has any number of plans, also as text.

A client that said `plan` is told as v2 tells it.  Every other one sees one plan: the tasks of all
plans in the order in which these came up; a plan that is text is said once, as a message.

A session keeps the tasks of at most `PLANS_KEPT` plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, is_text, keep, kept
from accord.translate.v2_agent.client_features import TranslationContext, copied

PLANS_KEPT: Final = 32

STATUSES: Final = frozenset({"pending", "in_progress", "completed"})
# Cancelled tasks too: v1 has no status for them, and they were not done.
OTHER_STATUS: Final = "pending"
PRIORITIES: Final = frozenset({"high", "medium", "low"})
TYPES: Final = frozenset({"items", "file", "markdown"})


class Plans:
    """The plans of one session."""

    def __init__(self, context: TranslationContext) -> None:
        self._context = context
        self._tasks: dict[str, list[Json]] = {}
        self._said: dict[str, None] = {}

    def update(self, update: Json) -> Sequence[Json]:
        """Replace a plan as a whole."""
        gone = kept(update, OFFICIAL).get("raw")
        if isinstance(gone, dict) and gone.get("sessionUpdate") == "plan_removed":
            # An update of v1 that only unstable v2 has.
            plan_id = update["plan"]["planId"]
            return self.removed({"sessionUpdate": "plan_removed", "planId": plan_id})
        plan: Json = _original(update["plan"])
        update["plan"] = plan
        if plan["type"] == "items":
            plan["entries"] = [self._entry(entry) for entry in plan["entries"]]
        if self._context.features.plans:
            return self._as_it_is(update)
        plan_id = plan["planId"]
        if plan["type"] == "items":
            self._tasks[plan_id] = plan["entries"]
            if len(self._tasks) > PLANS_KEPT:
                del self._tasks[next(iter(self._tasks))]
            return [self._one_plan(plan_id, update)]
        said: list[Json] = []
        if plan_id in self._tasks:
            del self._tasks[plan_id]
            said.append(self._one_plan(plan_id, {}))
        return [*said, *self._text(plan_id, plan)]

    def removed(self, update: Json) -> Sequence[Json]:
        """Remove a plan from the list."""
        if self._context.features.plans:
            return (update,)
        plan_id: str = update["planId"]
        self._said.pop(plan_id, None)
        if self._tasks.pop(plan_id, None) is None:
            return ()
        return [self._one_plan(plan_id, update)]

    # ---- inside

    def _as_it_is(self, update: Json) -> Sequence[Json]:
        plan: Json = update["plan"]
        if plan["type"] not in TYPES:
            empty: Json = {"type": "items", "planId": plan["planId"], "entries": []}
            update["plan"] = empty
            self._context.lose(empty, "raw", plan, "plan")
        return (update,)

    def _one_plan(self, plan_id: str, update: Json) -> Json:
        entries = [copied(entry) for tasks in self._tasks.values() for entry in tasks]
        said: Json = {"sessionUpdate": "plan", "entries": entries}
        if "_meta" in update:
            said["_meta"] = update["_meta"]
        keep(said, OFFICIAL, "planId", plan_id)
        if len(self._tasks) > 1:
            plans = [{"planId": one, "count": len(tasks)} for one, tasks in self._tasks.items()]
            self._context.lose(said, "plans", plans, "several plans")
        return said

    def _text(self, plan_id: str, plan: Json) -> Sequence[Json]:
        if plan_id in self._said:
            self._context.lost("plan as text")
            return ()
        self._said[plan_id] = None
        if len(self._said) > PLANS_KEPT:
            del self._said[next(iter(self._said))]
        text = {"markdown": plan.get("content"), "file": f"The plan is in {plan.get('uri')}"}.get(
            plan["type"]
        )
        said: Json = {
            "sessionUpdate": "agent_message_chunk",
            "messageId": f"plan-{self._context.around.fresh()}",
            "content": {"type": "text", "text": text or f"[{plan['type']}]"},
        }
        self._context.lose(said, "raw", {"sessionUpdate": "plan_update", "plan": plan}, "plan")
        return [said]

    def _entry(self, entry: Json) -> Json:
        status, priority = entry["status"], entry["priority"]
        if status not in STATUSES:
            entry["status"] = OTHER_STATUS
            self._context.lose(entry, "status", status, "plan entry status")
        if priority not in PRIORITIES:
            entry["priority"] = "medium"
            self._context.lose(entry, "priority", priority, "plan entry priority")
        return entry


def _original(plan: Json) -> Json:
    """Return the plan that was text before it became tasks."""
    raw = kept(plan, OFFICIAL).get("raw")
    if not isinstance(raw, dict) or raw.get("planId") != plan["planId"]:
        return plan
    needs = {"markdown": "content", "file": "uri"}.get(str(raw.get("type")), "")
    return raw if is_text(raw.get(needs)) else plan
