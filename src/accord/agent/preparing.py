"""What the first turn needs, loaded while the client reads the answer to `initialize`.

The answer must come soon, since somebody waits for it; the rest must not wait for the first
prompt, since somebody waits for that too.
"""

from importlib import import_module

from accord.protocol.negotiation import Dialect
from accord.schema.codec import native

_NEEDED = {
    "v1": ("NewSessionRequest", "PromptRequest", "SessionNotification", "NewSessionResponse"),
    "draft": ("NewSessionRequest", "PromptRequest", "SessionNotification", "NewSessionResponse"),
    "v2": ("NewSessionRequest", "PromptRequest", "UpdateSessionNotification", "PromptResponse"),
}
# What serves sessions, and what nearly every handler calls.
_USED = ("accord.agent.session", "accord.agent.terminals", "accord.agent.plan", "pathlib")
_DECODED = ("NewSessionRequest", "PromptRequest")


def prepare(dialect: Dialect, *, files: bool) -> None:
    """Load the types of the version that is spoken, and those of v2 that the inside is made of.

    With `files` also what reads them, because the client offers its own.
    """
    for version in {dialect, "v2"}:
        package = import_module(f"accord.schema.{version}")
        for name in _NEEDED[version]:
            wanted = getattr(package, name)
            if version == dialect and name in _DECODED:
                native(wanted)
    for module in _USED:
        import_module(module)
    if files:
        import_module("accord.agent.files")
