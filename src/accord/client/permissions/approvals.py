"""Decides what an approved tool call may do through the client.

The client, `guard` and `accord translate` all ask this module whether an act (starting a command,
writing a file) is covered by something that a person or a rule has already approved.

One approval covers one act:

    * A command is covered if it is the command that was shown with the request: as its command, or,
      where the request names none, as the whole of its title, reason or text.  Anything that the
      agent adds to the call after the approval is not covered.
    * A shell that only runs one line (`bash -c`), a leading `cd DIR &&` and variables that only
      change how output looks do not make it a different command.  The folder must be the approved
      one or beneath it.
    * An approval covers one start of its command, and each of its files as often as it showed a
      change of that file.  Writing the same content again is the same act.
    * An approval by a rule covers only the subject of the rule: approving a command, a tool of an
      MCP server or a host covers no file, and approving a tool covers no command.
    * An approval ends with its tool call, when that call is refused later, and when a rule that it
      rests on is revoked.

Must not know rules' patterns, users or the wire.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from accord.client.permissions.command_patterns import CommandLine, read_command
from accord.client.permissions.path_and_host_patterns import beneath, place
from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.rule_matcher import Facts, ReadRule
from accord.transcript.items.tool_call import DEFAULT_KIND

APPROVALS_MAX = 256
"""Approvals remembered per session; above it the oldest is forgotten."""

TEXT_CHARACTERS_MAX = 64 * 1024
"""A longer text is not searched for a command."""

_WRITING_KINDS = frozenset({"edit", "move"})
_RUNNING_KINDS = frozenset({"execute", DEFAULT_KIND})
_CHANGE_DIRECTORY = re.compile(r"(cd[ \t]+[^\n;|&]+?)[ \t]*&&[ \t]*(.+)", re.DOTALL)
# Words that may reverse the meaning of a text: "I will not run `make`", "Skip: make".
_CONTRARY = re.compile(
    r"\b(?:not|never|no|cannot|without|instead|except|unless|skip\w*|avoid\w*|stop\w*|cancel\w*"
    r"|den(?:y|ied)|refus\w*|reject\w*|forbid\w*|undo\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
# How agents announce a command: "Shell: make", "$ make", "Run make", "Running command make".
_LABEL = re.compile(
    r"(?:\$|[\w -]{1,40}:|(?:run|running|execute|executing)(?: (?:the )?(?:shell )?command:?)?)\s+",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Act:
    """One act of an agent through its client: starting a command, or writing a file.

    `path` is the real path of the file, and `cwd` the real folder of the command.
    """

    command: CommandLine | None = None
    cwd: str | None = None
    path: str | None = None
    content: str | None = None

    @classmethod
    def of(cls, facts: Facts, content: str | None = None) -> Act:
        """The act of a request for a terminal or for writing a file."""
        path = facts.paths[0] if len(facts.paths) == 1 else None
        return cls(facts.command, facts.cwd, None if path is None else path.real, content)


@dataclass(slots=True, eq=False)
class Approval:
    """One approval, and how much of it is left.

    `commands` are the possible readings of the shown text; starting one uses them all up.
    Without a tool call, whose end would end it, an approval covers one act.
    """

    title: str
    kind: str
    commands: tuple[CommandLine, ...]
    cwd: str | None
    writes: Counter[str]
    grounds: tuple[ReadRule, ...] = ()
    is_over: Callable[[], bool] | None = None
    call_id: str | None = None
    _written: dict[str, bytes] = field(default_factory=dict)

    def is_about(self, act: Act) -> bool:
        """Whether it is about acts of this kind."""
        # Some agents name no kind when they ask for a tool that writes.
        kinds = {*_WRITING_KINDS, DEFAULT_KIND} if act.command is None else _RUNNING_KINDS
        return self.kind in kinds

    def spend(self, act: Act) -> bool:
        """Use it up for an act, if it covers the act."""
        if act.command is not None:
            if not self._runs(act.command, act.cwd):
                return False
            self.commands = ()
        elif act.path is None or not self._may_write(act.path, act.content):
            return False
        if self.is_over is None:
            self.commands = ()
            self.writes.clear()
        return True

    def _runs(self, command: CommandLine, cwd: str | None) -> bool:
        if cwd is None or self.cwd is None:
            return False
        for asked, folder in _looked_through(command, cwd):
            inside = folder is not None and beneath(folder, self.cwd)
            if inside and any(asked.same(shown) for shown in self.commands):
                return True
        return False

    def _may_write(self, path: str, content: str | None) -> bool:
        digest = None if content is None else _digest(content)
        if digest is not None and self._written.get(path) == digest:
            return True
        if self.writes[path] <= 0:
            return False
        self.writes[path] -= 1
        if digest is not None:
            self._written[path] = digest
        return True


def approve(
    request: PermissionRequest,
    facts: Facts,
    grounds: tuple[ReadRule, ...] = (),
    *,
    seen: bool,
    texts: Iterable[str] = (),
    changes: Iterable[str] = (),
    call_id: str | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Approval:
    """The approval of this request.

    With `seen`, a person approved it and not a rule: then everything that the request shows counts,
    also outside of the fields that rules look at.  `texts` and `changes` are the texts and the
    changed files of its tool call, for a request without a `tool_call`.
    """
    call = request.tool_call
    if call is not None:
        texts = [*texts, call.text]
        changes = [diff.path for diff in call.diffs]
        call_id = call.tool_call_id
        is_over = lambda: call.is_over  # noqa: E731
    shown = tuple(changes)
    commands: tuple[CommandLine, ...] = ()
    if facts.command is not None:
        commands = (facts.command,) if seen or facts.mcp_tool is None else ()
    elif seen and facts.kind in _RUNNING_KINDS and facts.mcp_tool is None and not shown:
        commands = tuple(_commands_in([request.title, request.reason or "", *texts]))
    writes = _writes(facts, shown, seen=seen, calls_itself=request.kind)
    return Approval(
        request.title, facts.kind, commands, facts.cwd, writes, grounds, is_over, call_id
    )


def _writes(facts: Facts, shown: tuple[str, ...], *, seen: bool, calls_itself: str) -> Counter[str]:
    """How often an approval covers a change of each file; `shown` are the changes of its call."""
    writes: Counter[str] = Counter()
    is_writing = facts.kind in _WRITING_KINDS
    is_about_files = facts.command is None and facts.mcp_tool is None
    if not seen and not (is_writing and is_about_files):
        # A rule that approved a command, a tool or another kind did not look at the files.
        return writes
    if calls_itself in _WRITING_KINDS or (not shown and _may_be_edit(facts)):
        writes.update({path.real for path in facts.paths if path is not None})
    # Whatever kind the call has, the person saw its changes.
    for path, count in Counter(shown).items():
        placed = place(path, facts.workspace)
        if placed is not None:
            writes[placed.real] = max(writes[placed.real], count)
    return writes


def _may_be_edit(facts: Facts) -> bool:
    """Whether a call without a kind may be about writing the files it names."""
    return facts.kind == DEFAULT_KIND and facts.command is None and facts.mcp_tool is None


def _commands_in(texts: Iterable[str]) -> Iterator[CommandLine]:
    """The commands that these texts may show.

    A text shows a command as a whole: bare, behind a label, or as its only code.  A command that
    merely occurs somewhere in a text was not necessarily what the person agreed to.
    """
    for text in texts:
        whole = text.strip()
        if not whole or len(whole) > TEXT_CHARACTERS_MAX:
            continue
        found = [(0, len(whole))]
        label = _LABEL.match(whole)
        if label is not None:
            found.append((label.end(), len(whole)))
        fenced = [one.span(1) for one in _FENCE.finditer(whole)]
        first, last = whole.find("`"), whole.rfind("`")
        if fenced:
            found += fenced if len(fenced) == 1 else []
        elif first < last:
            # From the first mark to the last, so that a text with several code spans shows none.
            found.append((first + 1, last))
        for begin, end in found:
            line, around = whole[begin:end], whole[:begin] + whole[end:]
            if line.strip() and not _CONTRARY.search(around):
                yield read_command(line)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _looked_through(command: CommandLine, cwd: str) -> Iterator[tuple[CommandLine, str | None]]:
    """A command and its folder, as it is and without a leading `cd DIR &&`."""
    yield command, cwd
    found = _CHANGE_DIRECTORY.fullmatch(command.line)
    if found is None:
        return
    words = read_command(found[1]).words
    if words is None or len(words) != 2 or words[1].startswith("-"):
        # `cd -` goes to the previous folder, which is not known here.
        return
    placed = place(words[1], cwd)
    yield read_command(found[2]), None if placed is None else placed.real


class Approvals:
    """The approvals of one session."""

    def __init__(self) -> None:
        self._approvals: deque[Approval] = deque(maxlen=APPROVALS_MAX)

    def add(self, approval: Approval) -> None:
        """Add an approval, and forget those that are over."""
        kept = (old for old in self._approvals if not _is_over(old))
        self._approvals = deque(kept, maxlen=APPROVALS_MAX)
        self._approvals.append(approval)

    def drop(self, call_id: str) -> None:
        """Forget the approvals of a tool call that was refused later."""
        kept = (old for old in self._approvals if old.call_id != call_id)
        self._approvals = deque(kept, maxlen=APPROVALS_MAX)

    def clear(self) -> None:
        self._approvals.clear()

    def spend(self, act: Act, holds: Callable[[ReadRule], bool] = lambda _: True) -> bool:
        """Use an approval up for this act; False if none covers it."""
        for approval in self._approvals:
            if _is_over(approval) or not all(map(holds, approval.grounds)):
                continue
            if approval.spend(act):
                return True
        return False

    def open_call(self, act: Act) -> str | None:
        """The title of the latest open approval about acts of this kind, if there is one.

        It is shown with the question: the agent has asked, but for something else.
        """
        for approval in reversed(self._approvals):
            if not _is_over(approval) and approval.is_about(act):
                return approval.title
        return None


def _is_over(approval: Approval) -> bool:
    return approval.is_over is not None and approval.is_over()
