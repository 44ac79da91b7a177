"""Steps that have failed in earlier checks of a program, so that no check waits for them again.

Must not know: any step by its name.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from accord.conformance.frames.raw_peer import NotAsked, NotReady, Unanswered


@dataclass(slots=True)
class Reached:
    """The steps, such as `session/new`, that failed in an earlier check, each with the reason.

    A step of an agent has the name of its method.
    """

    failed: dict[str, str] = field(default_factory=dict)

    def need(self, step: str) -> None:
        """Stop here where this step failed before: it was judged where it failed first.

        Raises:
            NotAsked: it did.
        """
        if step in self.failed:
            raise NotAsked(f"{step} does not work: {self.failed[step]}")

    @contextmanager
    def step(self, step: str, *, usual: bool = True) -> Generator[None]:
        """A step on the way to what is checked; it is remembered if it is taken as usual.

        Raises:
            NotReady: it fails.
            NotAsked: it has failed before.
        """
        self.need(step)
        try:
            yield
        except NotAsked:
            raise
        except Unanswered as error:
            if usual:
                self.failed.setdefault(step, str(error))
            raise NotReady(f"{step} does not work: {error}") from None
