"""Tool calls of the agent as v2's upserts, with their content.

A null of v1 says nothing, where v2's clears, so nulls are left out.  A diff becomes a git patch
and keeps its two texts.  A terminal is shown only if this adapter runs it: v1's belong to the
client, v2's to the agent, and a reference to a terminal that nobody here runs shows nothing.
"""

from __future__ import annotations

from typing import Any, Final

from accord.schema.codec import Invalid, decode, encode, to_python
from accord.translate.content_blocks import block_to_v2
from accord.translate.diffs import diff_of, wire_diff
from accord.translate.message import Json
from accord.translate.meta_store import DRAFT, OFFICIAL, Check, is_text, keep, kept, restore, take
from accord.translate.v1_agent.session_state import Core, Session

# Null and absent are the same in v1.
NULLABLE: Final = (
    "title",
    "kind",
    "status",
    "content",
    "locations",
    "rawInput",
    "rawOutput",
    "name",
    "_meta",
)
# How many diffs are cached with their patch, and how large one may be.
DIFFS_KEPT: Final = 8
DIFF_CHARS_KEPT: Final = 256 * 1024
# Statuses of the draft that are failures in v1 and `cancelled` in v2.
STOPPED: Final = ("denied", "cancelled")
KNOWN_CONTENT: Final = frozenset({"content", "diff", "terminal"})


def _is_word(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_cleared(value: Any) -> bool:
    return value is None


# Fields of a tool call that only v2 has.  Its capabilities are not among them, since nothing here
# could serve `tool_call/cancel`.
KEPT: Final[dict[str, Check]] = {
    "status": _is_word,
    "kind": _is_word,
    "title": _is_word,
    "name": _is_cleared,
    "rawInput": _is_cleared,
    "rawOutput": _is_cleared,
}


class ToolCalls:
    """Translates tool calls and counts what is lost."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._diffs: dict[tuple[str, str | None, str], bytes] = {}

    def to_v2(self, session: Session, call: Json) -> None:
        """Convert a tool call, or a patch of one, in place."""
        if None in call.values():
            for name in NULLABLE:
                if name in call and call[name] is None:
                    del call[name]
        if "capabilities" in call:
            keep(call, OFFICIAL, "capabilities", call.pop("capabilities"))
        content = call.get("content")
        if content:
            call["content"] = self._contents(session, content)
        locations = call.get("locations")
        if locations:
            for location in locations:
                if location.get("line") == 0:
                    del location["line"]
                    keep(location, OFFICIAL, "line", 0)
        if "_meta" in call:
            if call.get("status") == "failed" and kept(call, DRAFT).get("status") in STOPPED:
                # The status of a draft agent behind a bridge; v1 lacks it.
                call["status"] = "cancelled"
            restore(call, KEPT)

    def _contents(self, session: Session, content: list[Json]) -> list[Json]:
        said: list[Json] = []
        is_whole = False
        for item in content:
            told = kept(item, OFFICIAL) if "_meta" in item else {}
            if is_whole and told.get("continues") is True:
                # The diff before it has the same content.
                continue
            raw = told.get("raw")
            if isinstance(raw, dict) and self._may_stand(session, raw):
                is_whole = raw["type"] == "diff"
                said.append(raw)
            else:
                said.append(self._content(session, item))
                is_whole = "changes" in told and "newText" not in kept(said[-1], OFFICIAL)
        return said

    def _content(self, session: Session, item: Json) -> Json:
        kind = item["type"]
        if kind == "content":
            item["content"] = block_to_v2(item["content"])
        elif kind == "diff":
            self._diff(item)
        elif kind == "terminal" and item["terminalId"] not in session.terminals:
            shown: Json = {
                "type": "content",
                "content": {"type": "text", "text": f"[terminal {item['terminalId']}]"},
            }
            keep(shown, OFFICIAL, "raw", item)
            self._core.lost("terminal content")
            return shown
        return item

    def _diff(self, item: Json) -> None:
        path: str = item.pop("path")
        new: str = item.pop("newText")
        texts: Json = {"oldText": item.pop("oldText")} if "oldText" in item else {}
        said = kept(item, OFFICIAL)
        if "changes" in said and _is_diff({"type": "diff", **said}):
            taken = take(item, OFFICIAL)
            item.update({name: taken[name] for name in ("changes", "patch") if name in taken})
            return
        item.update(to_python(self._patched(path, texts.get("oldText"), new)))
        for name, text in {**texts, "newText": new}.items():
            keep(item, OFFICIAL, name, text)

    def _patched(self, path: str, old: str | None, new: str) -> bytes:
        """Convert the diff of two texts.  Agents send it again with every change of the call."""
        key = (path, old, new)
        found = self._diffs.pop(key, None) or encode(wire_diff(diff_of(path, old, new)))
        if len(new) + len(old or "") <= DIFF_CHARS_KEPT:
            self._diffs[key] = found
            if len(self._diffs) > DIFFS_KEPT:
                del self._diffs[next(iter(self._diffs))]
        return found

    def _may_stand(self, session: Session, raw: Json) -> bool:
        """Whether what an adapter kept on a placeholder is content that v2 can show."""
        kind = raw.get("type")
        if kind == "terminal":
            return is_text(raw.get("terminalId")) and raw["terminalId"] in session.terminals
        if kind == "diff":
            return _is_diff(raw)
        return is_text(kind) and kind not in KNOWN_CONTENT


def _is_diff(value: Json) -> bool:
    """Whether this is a diff of v2; it may have operations of a later version."""
    from accord.schema import v2

    notes: list[str] = []
    try:
        decode(v2.Diff, encode(value), notes=notes)
    except Invalid:
        return False
    return all(note.startswith("unknown variant") for note in notes)
