"""Render child sessions that the agent started."""

from __future__ import annotations

from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.labels.stop_reasons_and_exit_codes import stop_words
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.render.block import Block, CachedBlock, OpenSession, Target
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import Run, shortened, strip_of, wrapped
from accord.transcript import Subagent

DESCRIPTION_LINES_MAX = 20


def state_words(child: Subagent) -> str:
    """Describe what the child does; an unknown state is shown as it is."""
    state = child.state
    if state.confirmed == "running":
        return "running"
    if state.confirmed == "requires_action":
        return "waiting for an answer"
    if state.confirmed == "idle":
        if state.stop_reason is None or state.stop_reason == "end_turn":
            return "idle"
        return f"idle: {one_line(state.stop_reason, 40)}"
    return one_line(state.reported or "", 40) or "state unknown"


class SubagentBlock(CachedBlock[Subagent]):
    """The block of a child session."""

    is_foldable = True
    is_tight = True

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        child, palette = self.entry, look.palette
        word = state_words(child)
        busy = child.state.confirmed in ("running", "requires_action")
        runs: list[Run] = [
            (f"{look.mark('↳', '>')} sub-agent ", palette.accent),
            (one_line(child.title or "") or one_line(child.session_id, 40), palette.strong),
            (f"  {word}", palette.running if busy else palette.dim),
        ]
        if child.state.background:
            behind = counted(len(child.state.background), "task")
            runs.append((f", {behind} in the background", palette.dim))
        found = [strip_of(*shortened(runs, look.width))]
        description = visible(child.description or "").strip()
        if description:
            lines = wrapped(description, max(look.width - 2, 4))
            shown = lines[:1] if self.folded else lines[:DESCRIPTION_LINES_MAX]
            more = look.mark(" …", " ...") if len(lines) > len(shown) else ""
            found += [strip_of((f"  {line}", palette.dim)) for line in shown[:-1]]
            last: list[Run] = [(f"  {shown[-1]}{more}", palette.dim)]
            found.append(strip_of(*shortened(last, look.width)))
        if not self.folded:
            found += self._facts(look, chat)
        return found

    def _facts(self, look: Look, chat: Chat) -> list[Strip]:
        child = self.entry
        facts = [f"session {one_line(child.session_id)}"]
        if child.cwd:
            facts.append(f"in {path_words(child.cwd, chat.folder)}")
        facts += [
            f"and {path_words(one, chat.folder)}" for one in child.additional_directories or ()
        ]
        if child.state.stop_reason:
            facts.append(stop_words(child.state.stop_reason).text)
        return [
            strip_of(*shortened([(f"  {fact}", look.palette.dim)], look.width))
            for fact in facts[:20]
        ]

    def guess(self, look: Look) -> int:
        del look
        return 2

    def target_at(self, line: int) -> Target | None:
        return OpenSession(self.entry.session_id) if line == 0 else super().target_at(line)

    def text(self) -> str:
        child = self.entry
        return "\n".join(filter(None, [child.title, child.description, child.session_id]))


def subagent_block(entry: Subagent, chat: Chat) -> Block:
    """Create the block of a child session."""
    del chat
    return SubagentBlock(entry, folded=True)
