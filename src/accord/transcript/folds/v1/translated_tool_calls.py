"""Data of a tool call that only the 2026-02 draft has a field for.

The translator puts it in `_meta`, under the key of the draft.

Invariant: an output that is told here changes no terminal that was not made here, so that nobody
can write into the output of a command that the client runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from accord.schema import v1
from accord.schema.codec import encode
from accord.schema.method import DRAFT_META
from accord.schema.struct import Raw
from accord.transcript.entities import View
from accord.transcript.items.terminal import ExitStatus
from accord.transcript.items.tool_call import Location
from accord.transcript.unknown_variants import plain


def _members(raw: Raw) -> dict[str, Any]:
    value = plain(raw)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def patch_of(diff: v1.Diff) -> str | None:
    """The patch of a diff that has hunks and no texts."""
    if not diff.meta or DRAFT_META not in diff.meta:
        return None
    patch = _members(diff.meta[DRAFT_META]).get("patch")
    return patch if isinstance(patch, str) else None


def placed(locations: Sequence[v1.ToolCallLocation]) -> Sequence[v1.ToolCallLocation | Location]:
    """The locations of a call, with their columns and ranges."""
    if not any(one.meta and DRAFT_META in one.meta for one in locations):
        return locations
    return [_place(one) for one in locations]


def _place(location: v1.ToolCallLocation) -> Location:
    told = _members((location.meta or {}).get(DRAFT_META, Raw(b"{}")))
    found = (told.get(name) for name in ("column", "endLine", "endColumn"))
    more = (one if type(one) is int else None for one in found)
    return Location(location.path, location.line or None, *more)


def merged(known: dict[str, Raw], meta: dict[str, Raw]) -> dict[str, Raw]:
    """Join the metadata of an update with earlier metadata of the call; null removes a value."""
    if DRAFT_META not in meta:
        return meta
    before = _members(known[DRAFT_META]) if DRAFT_META in known else {}
    told = {**before, **_members(meta[DRAFT_META])}
    left = {name: value for name, value in told.items() if value is not None}
    if left or DRAFT_META in known:
        return {**meta, DRAFT_META: Raw(encode(left))}
    return {name: value for name, value in meta.items() if name != DRAFT_META}


def fold_output(view: View, meta: dict[str, Raw]) -> None:
    """Show the output of a command that the agent ran itself."""
    output = _members(meta[DRAFT_META]).get("terminal") if DRAFT_META in meta else None
    terminal_id = output.get("terminalId") if isinstance(output, dict) else None
    if not isinstance(output, dict) or not isinstance(terminal_id, str):
        return
    known = view.terminals_by_id.get(terminal_id)
    if known is not None and DRAFT_META not in known.meta:
        return
    terminal = view.terminal(terminal_id)
    terminal.patch_meta({DRAFT_META: Raw(b"{}")})
    command, code = output.get("command"), output.get("exitCode")
    if isinstance(command, str):
        terminal.patch(command=command)
    streams = (output.get(name) for name in ("stdout", "stderr"))
    terminal.replace("".join(one for one in streams if isinstance(one, str)).encode())
    if isinstance(code, int):
        terminal.patch(exit_status=ExitStatus(code))
