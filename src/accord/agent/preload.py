"""Load what the first turn needs while the client is idle.

A user waits for the answer to `initialize`, so little is loaded before it; and a user waits for the
first prompt, so the rest is loaded before that.  A request that arrives meanwhile is served first,
and loads what it needs itself.
"""

import sys
from collections.abc import Generator
from importlib import import_module

from accord.lazy_names import undisturbed
from accord.protocol.negotiation import Dialect
from accord.schema.codec import native

# In the order in which they are needed.
_SPOKEN = {
    "v1": ("NewSessionRequest", "SessionNotification", "PromptRequest", "NewSessionResponse"),
    "draft": ("NewSessionRequest", "SessionNotification", "PromptRequest", "NewSessionResponse"),
    "v2": ("NewSessionRequest", "UpdateSessionNotification", "PromptRequest", "PromptResponse"),
}
_DECODED = frozenset({"NewSessionRequest", "PromptRequest"})
# Used by nearly every handler.
_USED = ("accord.agent.terminals.command_runner", "accord.agent.session.plan", "pathlib")


def prepare(dialect: Dialect, *, files: bool) -> Generator[None]:
    """Load, step by step, what serves sessions, the types of the client's version, and those of v2,
    which the library uses inside.  A step that finds everything loaded is left out.

    `files` also loads what reads files, for a client that offers its own.
    """
    # Sessions and updates first: a client may open a session with a long past.
    spoken, inside = import_module(f"accord.schema.{dialect}"), import_module("accord.schema.v2")
    first, *others = _SPOKEN[dialect]
    native(getattr(spoken, first))
    yield
    with undisturbed():
        import_module("accord.agent.session.agent_session")
    yield
    for name in _SPOKEN["v2"]:
        if name not in vars(inside):
            getattr(inside, name)
            yield
    for name in others:
        is_loaded = name in vars(spoken)
        if name in _DECODED:
            native(getattr(spoken, name))
        if not is_loaded:
            getattr(spoken, name)
            yield
    for module in (*_USED, "accord.agent.tools.files") if files else _USED:
        if module not in sys.modules:
            with undisturbed():
                import_module(module)
            yield
