"""A part of a transcript: what was said and done about one prompt.

Must not know: prompts, turns, or why it begins and ends where it does.
"""

from accord.transcript import Message, ToolCall, Transcript


class TranscriptSpan:
    """From where it begins to where it ends; until it has ended it grows with the transcript."""

    __slots__ = ("_begin", "_end", "_transcript")

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        # Of the messages by their order, of the tool calls by number.
        self._begin: tuple[int, int] | None = None
        self._end: tuple[int, int] | None = None

    def _here(self) -> tuple[int, int]:
        return self._transcript.mark(), len(self._transcript.tool_calls)

    def begin(self) -> None:
        """What is said from here on belongs to it; the first time counts."""
        if self._begin is None:
            self._begin = self._here()

    def forget(self) -> None:
        """It has not begun."""
        self._begin = None

    def end(self) -> None:
        """What is said from here on does not belong to it."""
        self._end = self._here()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or done in it so far."""
        return self._begin is None or self._begin == self._here()

    @property
    def text(self) -> str:
        """What the agent said."""
        if self._begin is None:
            return ""
        until = None if self._end is None else self._end[0]
        return self._transcript.text_since(self._begin[0], until)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said, but for prompts of ours."""
        if self._begin is None:
            return ()
        until = None if self._end is None else self._end[0]
        said = self._transcript.messages_since(self._begin[0], until)
        return tuple(message for message in said if not message.is_own)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What the agent did."""
        if self._begin is None:
            return ()
        until = None if self._end is None else self._end[1]
        return tuple(self._transcript.tool_calls[self._begin[1] : until])


__all__ = ["TranscriptSpan"]
