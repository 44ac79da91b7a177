"""Tool calls as they stand, whatever version reported them.

Must not know: wire structs.  Content items are kept as received; the folds say which diffs they
hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from accord.schema.codec import Invalid, to_python
from accord.schema.struct import UNSET, LightStruct, Omit, Patch, Raw
from accord.transcript.items.content import text_of
from accord.transcript.items.meta import NULL, patch_meta

KINDS_OF_TOOL: frozenset[str] = frozenset(
    {
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    }
)
FINAL_STATUSES: frozenset[str] = frozenset({"completed", "failed", "cancelled"})
STATUSES: frozenset[str] = frozenset({"pending", "in_progress", "paused"}) | FINAL_STATUSES
# A word that some agents have for a call that the user did not allow.
DENIED = "denied"
DEFAULT_KIND = "other"
DEFAULT_STATUS = "pending"

# A content item of whatever version the connection speaks, as it was received: for whoever reads
# it, and for the code here, which leaves that to the folds.
if TYPE_CHECKING:
    from accord.schema import v1, v2
    from accord.schema.v2 import ToolCallStatus, ToolKind

    ReceivedItem: TypeAlias = v1.ToolCallContent | v2.ToolCallContent
else:
    # The fields are looked up at runtime, by `help` for instance.
    ToolKind = ToolCallStatus = str
ContentItem: TypeAlias = Any


class Location(NamedTuple):
    """A place in a file, or a range where it has an end; lines and columns count from one."""

    path: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @property
    def position(self) -> str:
        """Where in the file, as editors write it: `2`, `2:3`, `2:3-4:1`; empty where unknown."""
        if not self.line:
            return ""
        start = _position(self.line, self.column)
        if self.end_line is None:
            return start
        return f"{start}-{_position(self.end_line, self.end_column)}"


def _position(line: int, column: int | None) -> str:
    return str(line) if column is None else f"{line}:{column}"


class Place(Protocol):
    """A place as any version reports it."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> Patch[int]: ...


class FileDiff(NamedTuple):
    """What a tool call changed, or would change, in one file.

    Either both texts are known (no old text means a new file), or `patch` is, or neither: then
    all that is known is that the file changed.
    """

    path: str
    operation: str = "modify"
    old_path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    patch: str | None = None

    def dump(self) -> dict[str, object]:
        return {
            "path": self.path,
            "operation": self.operation,
            "oldPath": self.old_path,
            "oldText": self.old_text,
            "newText": self.new_text,
            "patch": self.patch,
        }


# What a fold hands over so that diffs can be read out of its content items.
DiffReader: TypeAlias = Callable[[ContentItem], Iterable[FileDiff]]


def text_of_item(item: ContentItem) -> str:
    """The text of a content item that is text, and nothing of any other."""
    return text_of(getattr(item, "content", item))


def _plain(raw: Raw | None) -> Any:
    try:
        return None if raw is None else to_python(raw)
    except Invalid:
        return None


class ToolCall(LightStruct):
    """One thing that the agent does.

    Guards: a final status that was reported never changes again, `status` and `kind` are always
    words of the protocol (a call that was denied counts as cancelled, an unknown status as in
    progress, an unknown kind as other; the words that came are kept in `reported_status` and
    `reported_kind`), and `diffs` belongs to `content`.
    """

    tool_call_id: str
    title: str = ""
    name: str | None = None
    kind: ToolKind = DEFAULT_KIND
    reported_kind: ToolKind = DEFAULT_KIND
    status: ToolCallStatus = DEFAULT_STATUS
    reported_status: ToolCallStatus = DEFAULT_STATUS
    raw_input: Raw | None = None
    raw_output: Raw | None = None
    # Whether the client may ask for the end of this one call.
    cancellable: bool = False
    # Its turn was cancelled before it had ended, or it reports that itself.
    cancelled: bool = False
    # Made when they are needed: a long session has very many calls, most with few of these.
    _content: list[ContentItem] | None = None
    _meta: dict[str, Raw] | None = None
    # As received, until they are read: most are replaced before that.
    _places: Sequence[Place] = ()
    _locations: list[Location] | None = None
    _diffs: list[FileDiff] | None = None
    _diffs_of: DiffReader | None = None
    # The call that this is a snapshot of.
    _source: ToolCall | None = None

    def __repr__(self) -> str:
        return f"ToolCall({self.tool_call_id!r}, {self.title!r}, {self.status!r})"

    @property
    def content(self) -> list[ReceivedItem]:
        """What it shows, in order."""
        if self._content is None:
            self._content = []
        return self._content

    @property
    def meta(self) -> dict[str, Raw]:
        """The metadata that came with it."""
        if self._meta is None:
            self._meta = {}
        return self._meta

    @property
    def locations(self) -> list[Location]:
        """The places in files that it is about."""
        if self._locations is None:
            self._locations = [
                place if isinstance(place, Location) else Location(place.path, place.line or None)
                for place in self._places
            ]
            self._places = ()
        return self._locations

    def replace_locations(self, places: Sequence[Place] | None) -> None:
        """Replace all locations; null clears them."""
        self._locations = None
        self._places = places or ()

    @property
    def diffs(self) -> list[FileDiff]:
        """The changes in the content, made or planned."""
        if self._diffs is None:
            read = self._diffs_of
            found = () if read is None else (diff for item in self.content for diff in read(item))
            self._diffs = list(found)
        return self._diffs

    @property
    def terminal_ids(self) -> list[str]:
        """The terminals that it shows."""
        found = (getattr(item, "terminal_id", None) for item in self.content)
        return [one for one in found if isinstance(one, str)]

    @property
    def is_final(self) -> bool:
        """Whether nothing but content may follow."""
        return self.status in FINAL_STATUSES

    @property
    def is_over(self) -> bool:
        """Whether it was finished or cancelled by now, of a snapshot too."""
        call = self._source or self
        return call.is_final or call.cancelled

    def snapshot(self) -> ToolCall:
        """The call as it is now, which later updates leave alone."""
        made = copy(self)
        made._content, made._meta = [*self.content], {**self.meta}
        made._locations, made._diffs = [*self.locations], [*self.diffs]
        made._source = self
        return made

    @property
    def input(self) -> Any:
        """The input of the tool, as plain values of the reported JSON.

        None where it reported nothing, and where a number is too large for Python; `raw_input`
        is the JSON text itself.
        """
        return _plain(self.raw_input)

    @property
    def output(self) -> Any:
        """What the tool gave back, as `input` is what it was given."""
        return _plain(self.raw_output)

    @property
    def text(self) -> str:
        """The text among the content, a line break between the items."""
        return "\n".join(filter(None, map(text_of_item, self.content)))

    def patch(
        self,
        *,
        title: Patch[str] = UNSET,
        name: Patch[str] = UNSET,
        kind: Patch[str] = UNSET,
        status: Patch[str] = UNSET,
        raw_input: Omit[Raw] = UNSET,
        raw_output: Omit[Raw] = UNSET,
        meta: Patch[dict[str, Raw]] = UNSET,
    ) -> None:
        """Keep what is not given, clear what is null, replace the rest."""
        if title is not UNSET:
            self.title = title or ""
        if name is not UNSET:
            self.name = name
        if kind is not UNSET:
            self.report_kind(kind or DEFAULT_KIND)
        if status is not UNSET:
            self.report(status or DEFAULT_STATUS)
        if raw_input is not UNSET:
            self.raw_input = None if raw_input == NULL else raw_input.copy()
        if raw_output is not UNSET:
            self.raw_output = None if raw_output == NULL else raw_output.copy()
        if meta is not UNSET:
            patch_meta(self.meta, meta)

    def report_kind(self, kind: str) -> None:
        """Take a kind; one that is not known counts as other."""
        self.reported_kind = kind
        self.kind = kind if kind in KINDS_OF_TOOL else DEFAULT_KIND

    def report(self, status: str) -> None:
        """Take a status, unless a final one was reported before."""
        if self.is_final and not (self._is_cut_off and status in FINAL_STATUSES):
            return
        self.reported_status = status
        status = "cancelled" if status == DENIED else status
        self.status = status if status in STATUSES else "in_progress"
        if status == "cancelled":
            self.cancelled = True
        elif status == "completed":
            # It was faster than the cancellation.
            self.cancelled = False

    @property
    def _is_cut_off(self) -> bool:
        """Whether the call is cancelled, and the agent has not reported that itself."""
        words = (*FINAL_STATUSES, DENIED)
        return self.status == "cancelled" and self.reported_status not in words

    def end_cancelled(self) -> None:
        """Cancel the call with its turn; its end may still be reported."""
        self.cancelled = True
        self.status = "cancelled"

    def replace_content(self, items: Patch[Iterable[ContentItem]], diffs_of: DiffReader) -> None:
        """Keep the content when nothing is given, clear it for null, replace it otherwise."""
        if items is not UNSET:
            self._content = list(items or ())
            self._diffs, self._diffs_of = None, diffs_of

    def append_content(self, item: ContentItem, diffs_of: DiffReader) -> None:
        """Put one item at the end."""
        self.content.append(item)
        self._diffs, self._diffs_of = None, diffs_of

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        return {
            "type": "tool_call",
            "toolCallId": self.tool_call_id,
            "title": self.title,
            "name": self.name,
            "kind": self.kind,
            "status": self.status,
            "cancelled": self.cancelled,
            "cancellable": self.cancellable,
            "content": self.content,
            "diffs": [diff.dump() for diff in self.diffs],
            "locations": [{"path": place.path, "line": place.line} for place in self.locations],
            "rawInput": self.raw_input,
            "rawOutput": self.raw_output,
            "meta": self.meta,
        }
