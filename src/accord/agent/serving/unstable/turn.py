"""What a handler can do with the unstable parts of ACP, as part of `Turn`.

A handler need not know whether they are on: where they are off, or the client cannot show them,
the same calls leave nothing unstable on the wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.serving.unstable.tokens import TokenCount
from accord.schema import v2

if TYPE_CHECKING:
    from pathlib import Path

    from accord.agent.serving.unstable.subagents import Subagent
    from accord.agent.session.session import AgentSession


class UnstableTurn:
    """The part of `Turn` that is about unstable features."""

    def __init__(self) -> None:
        self._tokens = TokenCount()

    if TYPE_CHECKING:

        @property
        def session(self) -> AgentSession:
            """The session that this turn is part of."""
            raise NotImplementedError

        async def emit(self, update: Any, *, waits: bool = True) -> None:
            """Send one update."""

    # ---- tokens

    def count_tokens(
        self,
        *,
        input: int,  # noqa: A002 - the protocol's word
        output: int,
        thought: int | None = None,
        cached_read: int | None = None,
        cached_write: int | None = None,
    ) -> None:
        """Add what a call of the model has cost; the client is told when the turn ends."""
        self._tokens.add(
            {
                "input_tokens": input,
                "output_tokens": output,
                "thought_tokens": thought,
                "cached_read_tokens": cached_read,
                "cached_write_tokens": cached_write,
            }
        )

    @property
    def tokens(self) -> TokenCount:
        """What this turn has cost so far."""
        return self._tokens

    def settle_tokens(self) -> TokenCount:
        """The library's own: add the turn to its session, and return what that has cost."""
        return self.session.spend(self._tokens.counts)

    # ---- plans

    async def plan_text(self, markdown: str, *, plan_id: str = "main") -> None:
        """Show a plan that is free text."""
        await self.emit(v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id=plan_id, content=markdown)))

    async def plan_file(self, path: str | Path, *, plan_id: str = "main") -> None:
        """Show a plan that is kept in a file."""
        uri = (self.session.cwd / path).as_uri()
        await self.emit(v2.PlanUpdate(plan=v2.PlanFile(plan_id=plan_id, uri=uri)))

    # ---- subagents

    def subagent(
        self,
        title: str,
        *,
        description: str | None = None,
        cancellable: bool = False,
        cwd: str | Path | None = None,
        additional_directories: Sequence[str] | None = None,
    ) -> Subagent:
        """A child session at work: `async with turn.subagent("Reviewer") as child: ...`.

        The child is a turn of its own: it speaks, calls tools and asks like any other.  With
        `cancellable` the client may stop it alone.
        """
        from accord.agent.serving.unstable.subagents import Subagent

        return Subagent(
            self,
            title,
            description=description,
            cancellable=cancellable,
            cwd=None if cwd is None else str(cwd),
            additional_directories=additional_directories,
        )
