"""What went wrong with an MCP server, in one sentence that a person understands.

Must not know secrets: whoever shows a sentence cleans it (`machine/redaction`).
"""

from __future__ import annotations

from accord.agent.callbacks import first, sole
from accord.errors import AccordError

WORDS_MAX = 500
"""Longer sentences are nobody's; some validators print all that they looked at."""


class McpFault(AccordError):
    """Inside of this folder: a server could not be used.  `unsent` if it was asked nothing."""

    def __init__(self, message: str, *, unsent: bool = False) -> None:
        super().__init__(message)
        self.unsent = unsent


def explain(error: BaseException) -> str:
    """The sentence for whatever the MCP package, its HTTP client or the system raised."""
    error = sole(error)
    if isinstance(error, BaseExceptionGroup):
        error = first(error)
    if isinstance(error, AccordError):
        # Before anything is imported: that the package is missing may be what is said.
        return str(error)
    import httpx2
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    match error:
        case MCPError():
            text = error.error.message
        case ValidationError():
            wrong = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(one) for one in wrong["loc"])
            text = f"it answered in a wrong shape ({place}: {wrong['msg']})"
        case httpx2.HTTPStatusError():
            text = f"it answered with HTTP status {error.response.status_code}"
        case httpx2.ConnectError():
            text = f"it cannot be reached ({error})"
        case httpx2.TimeoutException() | TimeoutError():
            text = "it did not answer in time"
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            text = "its address is no URL that can be reached"
        case httpx2.HTTPError():
            text = f"the connection to it failed ({type(error).__name__})"
        case _:
            text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= WORDS_MAX else f"{text[:WORDS_MAX]}…"


def was_unreachable(error: BaseException) -> bool:
    """Whether the server never got to see what it was asked."""
    error = sole(error)
    if isinstance(error, AccordError):
        return False
    import httpx2

    return isinstance(error, httpx2.ConnectError)


__all__ = ["McpFault", "explain", "was_unreachable"]
