"""Plans of the draft in v1's form, and back."""

from __future__ import annotations

from typing import Final

from accord.schema import draft, v1
from accord.translate.draft.conversion.meta_restore import keep_all, restore, taken
from accord.translate.message import Json

PRIORITIES = ("high", "medium", "low")
_PLAN_STATUSES: Final = frozenset({"pending", "in_progress", "completed"})
DEFAULT_PLAN_ID: Final = "main"
DEFAULT_PRIORITY: Final = "medium"


def plan_from_draft(data: Json) -> Json:
    """Convert a plan to an update of v1."""
    made = {name: value for name, value in data.items() if name not in ("planId", "steps")}
    had = taken(made)
    if had.pop("noPlanId", False) is not True:
        had["planId"] = data["planId"]
    made = {"sessionUpdate": "plan", "entries": [_entry(one) for one in data["steps"]], **made}
    keep_all(made, had)
    return made


def detailed_plan(data: Json) -> Json:
    """Convert a plan for our own client: with its id and the draft's statuses."""
    entries = []
    for step in data["steps"]:
        entry = {"content": step["description"], "priority": DEFAULT_PRIORITY}
        entries.append(entry | {"status": step["status"]})
        keep_all(entries[-1], {"id": step["id"]})
    plan = {"type": "items", "planId": data["planId"], "entries": entries}
    return {"sessionUpdate": "plan_update", "plan": plan}


def _entry(step: Json) -> Json:
    made = {key: value for key, value in step.items() if key not in ("id", "description")}
    had = taken(made)
    if had.get("priority") not in PRIORITIES:
        had.pop("priority", None)
    if had.pop("noId", False) is not True:
        had["id"] = step["id"]
    status = from_draft_plan_status(step["status"])
    if status != step["status"]:
        had["status"] = step["status"]
    made = {"content": step["description"], "priority": DEFAULT_PRIORITY, **made, "status": status}
    made = restore(made, had, ("priority",), v1.PlanEntry)
    keep_all(made, had)
    return made


def plan_to_draft(update: Json) -> Json:
    """Convert a plan of v1 to the draft."""
    made = {key: value for key, value in update.items() if key not in ("sessionUpdate", "entries")}
    had = taken(made)
    steps = [_step(one, number) for number, one in enumerate(update["entries"], 1)]
    made = {"planId": DEFAULT_PLAN_ID, "steps": steps, **made}
    if "planId" not in had:
        had["noPlanId"] = True
    made = restore(made, had, ("planId",), draft.Plan)
    keep_all(made, had)
    return made


def _step(entry: Json, number: int) -> Json:
    made = {key: value for key, value in entry.items() if key not in ("content", "priority")}
    had = taken(made)
    made = {"id": f"step_{number}", "description": entry["content"], **made}
    if "id" not in had:
        had["noId"] = True
    if from_draft_plan_status(str(had.get("status"))) != made["status"]:
        had.pop("status", None)
    made = restore(made, had, ("id", "status"), draft.PlanStep)
    if entry["priority"] != DEFAULT_PRIORITY:
        had["priority"] = entry["priority"]
    keep_all(made, had)
    return made


def commands_from_draft(data: Json) -> Json:
    """Convert slash commands to an update of v1."""
    made = {name: value for name, value in data.items() if name != "commands"}
    commands = [_command_from_draft(one) for one in data["commands"]]
    return {"sessionUpdate": "available_commands_update", "availableCommands": commands, **made}


def _command_from_draft(command: Json) -> Json:
    made = dict(command)
    had = taken(made)
    made = restore(made, had, ("input",), v1.AvailableCommand)
    keep_all(made, had)
    return made


def commands_to_draft(update: Json) -> Json:
    """Convert slash commands to the draft."""
    made = {
        name: value
        for name, value in update.items()
        if name not in ("sessionUpdate", "availableCommands")
    }
    commands = [_command_to_draft(one) for one in update["availableCommands"]]
    return {"commands": commands, **made}


def _command_to_draft(command: Json) -> Json:
    if "input" not in command:
        return command
    made = {name: value for name, value in command.items() if name != "input"}
    keep_all(made, {"input": command["input"]})
    return made


def from_draft_plan_status(status: str) -> str:
    """Convert the status of a plan step to v1; if it differs, the original must be kept.

    What was skipped, cancelled or has failed was not done.
    """
    return status if status in _PLAN_STATUSES else "pending"
