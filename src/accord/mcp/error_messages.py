"""Explains what went wrong with an MCP server, in one sentence.

Must not know secrets: the caller redacts the sentence (`machine/redaction`).
"""

from __future__ import annotations

from accord.agent.callbacks import first, sole
from accord.errors import AccordError

SENTENCE_CHARACTERS_MAX = 500
"""Longer sentences are cut; some validators print their whole input."""


class McpFault(AccordError):
    """A server could not be used.  `unsent` means that it did not get the request."""

    def __init__(self, message: str, *, unsent: bool = False) -> None:
        super().__init__(message)
        self.unsent = unsent


def package_missing(error: ImportError) -> McpFault:
    """What to do where a package for MCP servers is not installed."""
    return McpFault(
        f"MCP servers need the package {error.name}, which is not installed: install accord[agent]"
    )


def explain(error: BaseException) -> str:
    """Return a sentence for an exception of the MCP package, its HTTP client or the system."""
    error = sole(error)
    if isinstance(error, BaseExceptionGroup):
        error = first(error)
    if isinstance(error, AccordError):
        # Before the imports: the error may be that the package is missing.
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
            text = f"its answer is malformed ({place}: {wrong['msg']})"
        case httpx2.HTTPStatusError():
            text = f"it answered with HTTP status {error.response.status_code}"
        case httpx2.ConnectError():
            text = f"it cannot be reached ({error})"
        case httpx2.TimeoutException() | TimeoutError():
            text = "it did not answer in time"
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            text = "its address is not a reachable URL"
        case httpx2.HTTPError():
            text = f"the connection to it failed ({type(error).__name__})"
        case _:
            text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= SENTENCE_CHARACTERS_MAX else f"{text[:SENTENCE_CHARACTERS_MAX]}…"


def was_unreachable(error: BaseException) -> bool:
    """Whether the server never got the request."""
    error = sole(error)
    if isinstance(error, AccordError):
        return False
    import httpx2

    return isinstance(error, httpx2.ConnectError)
