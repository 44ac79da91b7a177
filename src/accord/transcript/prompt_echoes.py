"""Prompts of ours that the agent may echo.

A prompt is shown the moment it is sent.  v2 agents echo it under an id that the answer to the
prompt names too, and the two come in either order; some v1 agents echo it without any id.  None of
this may show the prompt twice, and none of it may swallow a message that is not the echo.

Invariant: at most `PROMPTS_AWAITING_ECHO_MAX` prompts wait; most v1 agents never echo at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accord.transcript.items.content import Block, joined_text
from accord.transcript.items.message import Message

PROMPTS_AWAITING_ECHO_MAX = 16


def _others(blocks: Iterable[Block]) -> int:
    return sum(not hasattr(block, "text") for block in blocks)


class SentPrompt:
    """One prompt and how much of its echo has come.

    Guards: what was taken for the echo so far is kept in `seen`, so that it can become a message
    of its own when it turns out to be none.
    """

    __slots__ = ("_matched", "_others", "_text", "is_confirmed", "message", "seen")

    def __init__(self, message: Message) -> None:
        self.message = message
        self.seen: list[Block] = []
        # The agent itself gave the message id of its echo, so nothing is guessed here.
        self.is_confirmed = False
        self._text = message.text
        self._matched = 0
        self._others = _others(message.blocks)

    @property
    def is_complete(self) -> bool:
        """Whether all that was sent has come back."""
        return self._matched == len(self._text) and self._others == 0

    def equals(self, blocks: Sequence[Block]) -> bool:
        """Whether a whole message has the content of the prompt.

        Text decides; of other blocks only the number counts, for agents rewrite links.
        """
        return self._text == joined_text(blocks) and self._others == _others(blocks)

    def takes(self, block: Block) -> bool:
        """Whether the block continues the echo, which then counts as come."""
        text = getattr(block, "text", None)
        if text is None:
            if self._others == 0:
                return False
            self._others -= 1
        else:
            if not self._text.startswith(text, self._matched):
                return False
            self._matched += len(text)
        self.seen.append(block)
        return True


class SentPrompts:
    """The prompts that still may be echoed, oldest first.

    Guards: a prompt is in here at most once, and leaves for good once its echo is complete.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[SentPrompt] = []

    def add(self, message: Message) -> SentPrompt:
        """Wait for the echo of a prompt."""
        prompt = SentPrompt(message)
        self._waiting.append(prompt)
        del self._waiting[:-PROMPTS_AWAITING_ECHO_MAX]
        return prompt

    def of(self, message: Message) -> SentPrompt | None:
        """The prompt that is shown as this message, if its echo is still expected."""
        for prompt in self._waiting:
            if prompt.message is message:
                return prompt
        return None

    def drop(self, message: Message) -> None:
        """Stop waiting for the echo of this message."""
        self._waiting = [prompt for prompt in self._waiting if prompt.message is not message]

    def unnamed(self) -> list[SentPrompt]:
        """The prompts without an echo and without a known id."""
        return [
            prompt
            for prompt in self._waiting
            if prompt.message.message_id is None and not prompt.seen
        ]
