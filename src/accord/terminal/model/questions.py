"""Questions that wait for the user's answer: permissions, forms, pages to visit, logins.

This module does not know how anything is asked: a dialog or a line shows the first question and
answers it.

Invariants
    * Questions are shown in the order in which they came, one at a time, and each is answered once.
    * A question whose asker does not wait anymore is gone at once, answered or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import anyio

QuestionKind: TypeAlias = Literal["permission", "form", "url", "login", "credential", "servers"]


class Question:
    """One question, as long as it waits.

    `request` is what is asked, by `kind`: a `PermissionRequest` (answered with a `Decision`), a
    `FormRequest` (values, False to decline, None to close), a `UrlRequest` (True, False, None), a
    tuple of `AuthMethod` (the id of one, or None), "credential" the reason as a string (the key,
    or None), "servers" a `ProjectServer` of the folder's own file (True, False, None: not now).
    """

    def __init__(self, kind: QuestionKind, request: Any, asked_at: float) -> None:
        self.kind: QuestionKind = kind
        self.request = request
        # When it was shown; a key right after that was meant for something else.
        self.asked_at = asked_at
        self._answer: Any = None
        self._answered = anyio.Event()

    @property
    def is_answered(self) -> bool:
        """Whether the question was answered or withdrawn."""
        return self._answered.is_set()

    def answer(self, value: Any) -> None:
        """Set the user's answer; a second answer is ignored."""
        if not self._answered.is_set():
            self._answer = value
            self._answered.set()

    async def wait(self) -> Any:
        """Wait for the user's answer."""
        await self._answered.wait()
        return self._answer


class Questions:
    """The queue of questions of one chat.  Guards their order and reports each change."""

    def __init__(self, clock: Callable[[], float], changed: Callable[[], None]) -> None:
        self._clock = clock
        self._changed = changed
        self._waiting: list[Question] = []
        # Counts the requests that wait behind the open one; set by the lifecycle.
        self.count_behind: Callable[[], int] = lambda: 0

    @property
    def first(self) -> Question | None:
        """The question to show, if there is one."""
        return self._waiting[0] if self._waiting else None

    @property
    def all(self) -> Sequence[Question]:
        """All of them, in order."""
        return tuple(self._waiting)

    @property
    def waiting(self) -> int:
        """The number of questions, including those that the library still queues."""
        return len(self._waiting) + self.count_behind()

    async def ask(self, kind: QuestionKind, request: Any) -> Any:
        """Show a question and wait for its answer; cancelling the wait withdraws it."""
        question = Question(kind, request, self._clock())
        self._waiting.append(question)
        self._changed()
        try:
            return await question.wait()
        finally:
            self._waiting.remove(question)
            # The dialog that shows it checks this.
            question.answer(None)
            self._changed()
