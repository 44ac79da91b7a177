"""A span of a transcript: what was said and done for one prompt.

Must not know: prompts, turns, or why it begins and ends where it does.
"""

from accord.transcript import Message, ToolCall, Transcript
from accord.transcript.entities import View


class TranscriptSpan:
    """A span from its beginning to its end; it grows with the transcript until it has ended."""

    __slots__ = ("_begin", "_end", "_transcript", "_view")

    def __init__(self, transcript: Transcript, view: View) -> None:
        """`view` is where the transcript counts its items."""
        self._transcript = transcript
        self._view = view
        # A mark among the messages, and a number of tool calls.
        self._begin: tuple[int, int] | None = None
        self._end: tuple[int, int] | None = None

    def _here(self) -> tuple[int, int]:
        return self._view.next_order, len(self._view.tool_calls)

    def begin(self) -> None:
        """Begin here, unless it has begun."""
        if self._begin is None:
            self._begin = self._here()

    def forget(self) -> None:
        self._begin = None

    def end(self) -> None:
        self._end = self._here()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or done in it so far."""
        return self._begin is None or self._begin == self._here()

    @property
    def text(self) -> str:
        """The text of the agent's messages."""
        if self._begin is None:
            return ""
        until = None if self._end is None else self._end[0]
        return self._transcript.text_since(self._begin[0], until)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, without our own prompts."""
        if self._begin is None:
            return ()
        until = None if self._end is None else self._end[0]
        said = self._transcript.messages_since(self._begin[0], until)
        return tuple(message for message in said if not message.is_own)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the agent."""
        if self._begin is None:
            return ()
        until = None if self._end is None else self._end[1]
        return tuple(self._transcript.tool_calls[self._begin[1] : until])
