"""What an agent may ask for when it is made: names out of lists, so that a slip is found at once.

A client capability that does not exist would refuse every client, and one word that is taken for
a list of words would be its letters.
"""

from collections.abc import Collection, Iterable

from accord.errors import LocalProtocolError

# Everything that clients of v1 and v2 may offer, by its path.  Names in `_meta` are anybody's.
CLIENT_CAPABILITIES = (
    "auth",
    "auth.terminal",
    "elicitation",
    "elicitation.form",
    "elicitation.url",
    "fs",
    "fs.readTextFile",
    "fs.writeTextFile",
    "nes",
    "nes.jump",
    "nes.rename",
    "nes.searchAndReplace",
    "plan",
    "session",
    "session.compaction",
    "session.configOptions",
    "session.configOptions.boolean",
    "session.notices",
    "subagents",
    "terminal",
)
# Files and terminals are the agent's own in v2: what needs them needs nothing of the client.
OURS_IN_V2 = ("fs", "terminal")
MCP_TRANSPORTS = ("acp", "http", "sse", "stdio")


def check_facts(name: object, version: object, title: object, store: object) -> None:
    """What an agent says of itself is text, and its store is one.

    Raises:
        LocalProtocolError: something is not.
    """
    said = {"name": name, "version": version} | ({} if title is None else {"title": title})
    for what, text in said.items():
        if not isinstance(text, str) or not text:
            raise LocalProtocolError(f"an agent's {what} is a text that is not empty: {text!r}")
    if store is not None and not hasattr(store, "create"):
        raise LocalProtocolError(f"no store, such as SqliteStore(path): {store!r}")


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several, as several."""
    return (given,) if isinstance(given, str) else tuple(given)


def known(what: str, given: str | Iterable[str], among: Collection[str]) -> tuple[str, ...]:
    """The names that were given; refused when one is not in the list."""
    listed = names(given)
    wrong = [str(one) for one in listed if one not in among]
    if wrong:
        raise LocalProtocolError(
            f"no such {what}: {', '.join(sorted(wrong))}; there are {', '.join(sorted(among))}"
        )
    return listed


def client_capabilities(given: str | Iterable[str]) -> tuple[str, ...]:
    """The paths of capabilities that an agent requires of its clients."""
    listed = names(given)
    own = [one for one in listed if one.startswith("_meta.")]
    known("client capability", [one for one in listed if one not in own], CLIENT_CAPABILITIES)
    return listed


def needed_in_v2(paths: Iterable[str]) -> list[str]:
    """Those of the required capabilities that a client of v2 has to have."""
    return [path for path in paths if path.split(".")[0] not in OURS_IN_V2]


__all__ = [
    "CLIENT_CAPABILITIES",
    "MCP_TRANSPORTS",
    "client_capabilities",
    "known",
    "names",
    "needed_in_v2",
]
