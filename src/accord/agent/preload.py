"""What the first turn needs, loaded in moments in which the client wants nothing.

The answer to `initialize` must come soon, since somebody waits for it; the rest must not wait for
the first prompt, since somebody waits for that too.  And a request that comes meanwhile need not
wait for what it does not use: it is served first, and what it uses it loads itself.
"""

from collections.abc import Generator
from importlib import import_module

from accord.loading import undisturbed
from accord.protocol.negotiation import Dialect
from accord.schema.codec import native

# In the order in which they are needed.
_SPOKEN = {
    "v1": ("NewSessionRequest", "SessionNotification", "PromptRequest", "NewSessionResponse"),
    "draft": ("NewSessionRequest", "SessionNotification", "PromptRequest", "NewSessionResponse"),
    "v2": ("NewSessionRequest", "UpdateSessionNotification", "PromptRequest", "PromptResponse"),
}
_DECODED = frozenset({"NewSessionRequest", "PromptRequest"})
# What nearly every handler calls.
_USED = ("accord.agent.terminals.terminals", "accord.agent.session.plan", "pathlib")


def prepare(dialect: Dialect, *, files: bool) -> Generator[None]:
    """Load, step by step, what serves sessions, the types of the version that is spoken, and those
    of v2 that the inside is made of.

    With `files` also what reads them, because the client offers its own.
    """
    # Sessions first, and all updates: a client that opens one with a long past wants it at once.
    spoken, inside = import_module(f"accord.schema.{dialect}"), import_module("accord.schema.v2")
    first, *others = _SPOKEN[dialect]
    native(getattr(spoken, first))
    yield
    with undisturbed():
        import_module("accord.agent.session.session")
    yield
    for name in _SPOKEN["v2"]:
        getattr(inside, name)
        yield
    for name in others:
        wanted = getattr(spoken, name)
        if name in _DECODED:
            native(wanted)
        yield
    for module in (*_USED, "accord.agent.tools.files") if files else _USED:
        with undisturbed():
            import_module(module)
        yield
