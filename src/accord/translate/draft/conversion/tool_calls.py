"""Tool calls of the draft in v1's form, and fields of v1's calls in the draft's form.

Must not know: the order of a call's statuses; the callers keep it.
"""

from __future__ import annotations

from typing import Any, Final

from accord.schema import draft, v1
from accord.translate.draft.conversion.meta_restore import keep_all, restore, taken
from accord.translate.draft.conversion.paths import resolved
from accord.translate.draft.conversion.tool_output import (
    Surfaces,
    are_contents,
    contents_of,
    is_output,
    output_of,
    says_all,
    text_content,
)
from accord.translate.draft.tool_statuses import (
    DETAILED_STATUSES,
    FINAL_STATUSES,
    NAMED_STATUSES,
    STATUSES_FROM_DRAFT,
)
from accord.translate.message import Json

# The output is exactly the raw output.
IN_RAW_OUTPUT: Final = "rawOutput"

# The tool name for a call of v1 without one: the draft requires it, and derives the kind.
TOOL_OF_KIND: Final = {
    "read": "fs/read_text_file",
    "edit": "fs/write_text_file",
    "delete": "fs/delete",
    "execute": "terminal/create",
    "fetch": "web/fetch",
}
_OFFICIAL_STATUSES: Final = frozenset(STATUSES_FROM_DRAFT.values())
# Fields that a call of v1 lacked, and that the draft requires or shows.
_LEFT_OUT: Final = {
    "noName": "name",
    "noInput": "rawInput",
    "noStatus": "status",
    "noKind": "kind",
}
_PLACE_EXTRAS: Final = ("column", "endLine", "endColumn")
_CALL_FIELDS: Final = ("title", "kind", "locations", "content", "rawOutput")
# Data that the draft names but has no field for in an update: kept under that name.
_NAMES_IN_DRAFT: Final = {"name": "tool", "rawInput": "input"}
_PATCH_FIELDS: Final = ("title", "kind", "name", "locations", "rawInput", "rawOutput")


# ---- from the draft


def call_from_draft(data: Json, folder: str, *, details: bool = False) -> Json:
    """Convert the announcement of a call to v1; `details`: for our own client."""
    rest = dict(data)
    had = taken(rest)
    tool, given = rest.pop("tool"), rest.pop("input")
    made: Json = {
        "sessionUpdate": "tool_call",
        "toolCallId": rest.pop("id"),
        "title": title_of_tool(tool, given),
        "name": tool,
        "kind": kind_of_tool(tool),
        **rest,
        "rawInput": given,
    }
    if "requiresPermission" in made:
        had["requiresPermission"] = made.pop("requiresPermission")
    said = None if details else had.pop("status", None)
    _status_from_draft(made, had, details=details)
    if said in _OFFICIAL_STATUSES:
        made["status"] = said
    if details and "location" in made:
        had["location"] = made["location"]
    if "location" in made:
        made["locations"] = [place_from_draft(made.pop("location"), folder)]
    for mark, name in _LEFT_OUT.items():
        if had.pop(mark, False) is True:
            made.pop(name, None)
    made = restore(made, had, _CALL_FIELDS, v1.ToolCall)
    keep_all(made, had)
    return made


def update_from_draft(data: Json, surfaces: Surfaces) -> Json:
    """Convert a change of a call to v1."""
    rest = dict(data)
    had = taken(rest)
    made: Json = {"sessionUpdate": "tool_call_update", "toolCallId": rest.pop("id"), **rest}
    done = made.get("status") in FINAL_STATUSES
    _status_from_draft(made, had, details=surfaces.details)
    output, error = made.pop("output", None), made.pop("error", None)
    contents: list[Json] = []
    if output is not None:
        contents += contents_of(output, surfaces, done=done)
    if error is not None:
        contents.append(text_content(error))
    if contents or (surfaces.details and output is not None):
        made["content"] = contents
    if "duration" in made:
        had["duration"] = made.pop("duration")
    if not surfaces.details:
        return _restored_update(made, had, output, error)
    if output is not None and output.get("type") == "terminal":
        had["terminal"] = output
    elif output is not None and not contents:
        made["rawOutput"] = output
    keep_all(made, had)
    return made


def _restored_update(made: Json, had: Json, output: Json | None, error: str | None) -> Json:
    """Restore the update of v1 that went through the draft."""
    if error is not None:
        made["rawOutput"] = {"error": error}
    if output is not None:
        made["rawOutput"] = output
        if error is not None:
            had["error"] = error
        if "madeOutput" not in had:
            had["output"] = IN_RAW_OUTPUT
    if had.pop("madeOutput", False) is True:
        made.pop("rawOutput", None)
        contents = had.pop("content", ())
        if contents is None:
            made.pop("content", None)
        elif are_contents(contents):
            made["content"] = contents
    for name, in_draft in _NAMES_IN_DRAFT.items():
        if in_draft in had:
            had[name] = had.pop(in_draft)
    made = restore(made, had, _PATCH_FIELDS, v1.ToolCallUpdate)
    keep_all(made, had)
    return made


def _status_from_draft(made: Json, had: Json, *, details: bool) -> None:
    status = made.get("status")
    if details:
        had.pop("status", None)
        if status is not None:
            made["status"] = DETAILED_STATUSES.get(status, status)
            # Null clears the name of an earlier status.
            had["status"] = status if status in NAMED_STATUSES else None
        return
    if status is None:
        if had.get("status") in _OFFICIAL_STATUSES:
            # A repeated status, which is not a step in the draft.
            made["status"] = had.pop("status")
        return
    official = STATUSES_FROM_DRAFT.get(status)
    if official is None:
        del made["status"]
        had["status"] = status
        return
    made["status"] = official
    if official == status or had.get("status") == official:
        # The second case: v1 reported it, and the draft's status followed from the turn.
        had.pop("status", None)
    else:
        had["status"] = status


def place_from_draft(location: Json, folder: str) -> Json:
    """Convert a location to v1."""
    made = {name: value for name, value in location.items() if name not in _PLACE_EXTRAS}
    made["path"] = resolved(made["path"], folder)
    keep_all(made, {name: location[name] for name in _PLACE_EXTRAS if name in location})
    return made


# ---- to the draft


def call_to_draft(update: Json) -> Json:
    """Convert the announcement of a call, always as `pending`; later statuses are updates."""
    made = dict(update)
    del made["sessionUpdate"]
    had = taken(made)
    title, kind = made.pop("title", None), made.pop("kind", None)
    name = made.pop("name", None)
    for gone in ("status", "content", "rawOutput"):
        made.pop(gone, None)
    tool = TOOL_OF_KIND.get(kind or "other", kind or "other") if name is None else name
    given = made.pop("rawInput", None)
    if "rawInput" not in update:
        given = {}
        had["noInput"] = True
    if name is None:
        had["noName"] = True
    if "status" not in update:
        had["noStatus"] = True
    made = {"id": made.pop("toolCallId"), "tool": tool, "input": given, **made, "status": "pending"}
    if title is not None and title != title_of_tool(tool, given):
        had["title"] = title
    if kind is None:
        had["noKind"] = True
    elif kind != kind_of_tool(tool):
        had["kind"] = kind
    _places_to_draft(made, had)
    made = restore(made, had, ("requiresPermission",), draft.ToolCall)
    keep_all(made, had)
    return made


def _places_to_draft(made: Json, had: Json) -> None:
    locations = made.pop("locations", None)
    if locations:
        made["location"] = place_to_draft(locations[0])
    if locations is not None and len(locations) != 1:
        had["locations"] = locations


def place_to_draft(location: Json) -> Json:
    """Convert a location to the draft."""
    made = dict(location)
    had = taken(made)
    if made.get("line", 0) is None:
        del made["line"]
    made = restore(made, had, _PLACE_EXTRAS, draft.Location)
    keep_all(made, had)
    return made


def patch_to_draft(update: Json, *, failed: bool) -> Json:
    """Convert a change of a call without its status: `id`, output or error; the rest is kept."""
    made = dict(update)
    made.pop("sessionUpdate", None)
    had = taken(made)
    made.pop("status", None)
    had.pop("status", None)
    contents, raw_output = made.pop("content", None), made.get("rawOutput")
    patch: Json = {"id": made.pop("toolCallId")}
    for name in _PATCH_FIELDS:
        if name in made:
            value = made.pop(name)
            # Null has no meaning, except for a raw value.
            if value is not None or name.startswith("raw"):
                had[_NAMES_IN_DRAFT.get(name, name)] = value
    patch.update(made)
    if had.pop("output", None) == IN_RAW_OUTPUT and is_output(raw_output):
        patch["output"] = had.pop("rawOutput")
    elif _is_error(raw_output, contents):
        patch["error"] = had.pop("rawOutput")["error"]
    else:
        _made_output(patch, had, contents, raw_output, failed=failed)
    patch = restore(patch, had, ("duration", "error"), draft.ToolCallUpdate)
    keep_all(patch, had)
    return patch


def _made_output(
    patch: Json, had: Json, contents: list[Json] | None, raw_output: Any, *, failed: bool
) -> None:
    output = output_of(contents or [], raw_output)
    if output is None and contents is None:
        return
    had["madeOutput"] = True
    if not says_all(output, contents):
        had["content"] = contents
    if output is not None and failed and output["type"] == "text":
        patch["error"] = output["text"]
    elif output is not None:
        patch["output"] = output


def _is_error(raw_output: Any, contents: list[Json] | None) -> bool:
    """Whether a failure has the form that a bridge gives to an error of the draft."""
    return (
        isinstance(raw_output, dict)
        and set(raw_output) == {"error"}
        and isinstance(raw_output["error"], str)
        and contents == [text_content(raw_output["error"])]
    )


_KINDS_BY_TOOL: Final = (
    ("fs/read", "read"),
    ("fs/write", "edit"),
    ("fs/delete", "delete"),
    ("terminal/", "execute"),
    ("web/", "fetch"),
    ("http", "fetch"),
    ("search", "search"),
    ("grep", "search"),
)


def kind_of_tool(tool: str) -> str:
    """Return the official kind of a call, by the start of the tool's name."""
    return next((kind for start, kind in _KINDS_BY_TOOL if tool.startswith(start)), "other")


def title_of_tool(tool: str, given: Any) -> str:
    """Make a title for a call: the tool, and the path or command of its input."""
    for name in ("path", "command"):
        subject = given.get(name) if isinstance(given, dict) else None
        if isinstance(subject, str):
            return f"{tool} {subject}"
    return tool
