"""Validate arguments of `Agent` and of turns, so that a typo is found at once.

A requirement for a capability that does not exist would refuse every client, and a string in place
of a list would be read as its letters.
"""

from collections.abc import Collection, Iterable

from accord.errors import LocalProtocolError

# Everything that clients of v1 and v2 may offer, by its path.  Names in `_meta` are free.
CLIENT_CAPABILITIES = (
    "auth",
    "auth.terminal",
    "elicitation",
    "elicitation.form",
    "elicitation.url",
    "fs",
    "fs.readTextFile",
    "fs.writeTextFile",
    "plan",
    "session",
    "session.compaction",
    "session.configOptions",
    "session.configOptions.boolean",
    "session.notices",
    "subagents",
    "terminal",
)
# In v2 files and terminals are the agent's own, so a client need not offer them.
OURS_IN_V2 = ("fs", "terminal")
MCP_TRANSPORTS = ("acp", "http", "sse", "stdio")


def check_facts(name: object, version: object, title: object, store: object) -> None:
    """Check that an agent's name, version and title are text, and that its store is a store.

    Raises:
        LocalProtocolError: one of them is not.
    """
    said = {"name": name, "version": version} | ({} if title is None else {"title": title})
    for what, text in said.items():
        if not isinstance(text, str) or not text:
            raise LocalProtocolError(f"an agent's {what} must be text and not empty: {text!r}")
    if store is not None and not hasattr(store, "create"):
        raise LocalProtocolError(f"not a store, such as SqliteStore(path): {store!r}")


def check_command_name(name: str) -> None:
    """Check the name of a slash command.

    Raises:
        LocalProtocolError: it is empty, or has a slash or a space.
    """
    if not name or "/" in name or any(map(str.isspace, name)):
        raise LocalProtocolError(f"a command's name cannot contain a slash or a space: {name!r}")


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def known(what: str, given: str | Iterable[str], among: Collection[str]) -> tuple[str, ...]:
    """The names that were given; a name that is not in the list is refused."""
    listed = names(given)
    wrong = [str(one) for one in listed if one not in among]
    if wrong:
        raise LocalProtocolError(
            f"unknown {what}: {', '.join(sorted(wrong))}; known are {', '.join(sorted(among))}"
        )
    return listed


def client_capabilities(given: str | Iterable[str]) -> tuple[str, ...]:
    """The paths of capabilities that an agent requires of its clients."""
    listed = names(given)
    own = [one for one in listed if one.startswith("_meta.")]
    known("client capability", [one for one in listed if one not in own], CLIENT_CAPABILITIES)
    return listed


def needed_in_v2(paths: Iterable[str]) -> list[str]:
    """The required capabilities that a client of v2 must have."""
    return [path for path in paths if path.split(".")[0] not in OURS_IN_V2]


def check_enum_value(enum: str, value: str) -> str:
    """Return a value of an open enumeration: one of the protocol's, or one that starts with `_`.

    Any other value belongs to a later version of the protocol, so sending it would be wrong.
    `enum` is the name of its type in the schema.

    Raises:
        LocalProtocolError: it is another value.
    """
    # Imported here to keep the start of an agent fast.
    from accord.schema.v2.enumeration_openness import ENUMS

    if value in ENUMS[enum].values or (value.startswith("_") and ENUMS[enum].open):
        return value
    ours = ", ".join(ENUMS[enum].values)
    raise LocalProtocolError(
        f"{value!r} is not a {enum}: use one of {ours}, or a name of your own that starts with `_`"
    )
