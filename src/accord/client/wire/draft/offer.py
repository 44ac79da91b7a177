"""What each side of a draft connection says that it can do: ours written, the agent's read.

Must not know: when anything is sent.

What always holds: we say what is there and nothing else; in particular whether somebody can be
asked, and what our user interface shows.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.outgoing_params import encode
from accord.client.options import Options
from accord.errors import VersionMismatch
from accord.schema import draft
from accord.schema.struct import UNSET


class Unfit(VersionMismatch):
    """The agent demands something of its client that this one does not offer."""


def draft_capabilities(options: Options) -> dict[str, Any]:
    """Our capabilities in the draft's form."""
    files, terminals = options.files, options.terminals
    offered: dict[str, Any] = {
        "fs": {
            "read": hasattr(files, "read_text"),
            "write": hasattr(files, "write_text"),
            "watch": False,
        },
        "terminal": {"create": terminals is not None, "interactive": False},
        "ui": {
            # Whether it is of use to ask.  An object of the program's own decides in ways that we
            # cannot know.
            "permissionDialogs": getattr(options.permissions, "can_allow", True),
            "diffViewer": "diff_viewer" in options.draft.ui,
            "codeNavigation": "code_navigation" in options.draft.ui,
        },
    }
    if terminals is not None:
        at_once = getattr(terminals, "count_max", None)
        if isinstance(at_once, int):
            offered["terminal"]["maxConcurrent"] = at_once
    custom = options.extensions.advertised()
    return {**offered, "_custom": custom} if custom else offered


def draft_initialize(options: Options) -> bytes:
    """The params of `initialize` as the draft has them, and nothing else."""
    info = options.info
    return encode(
        {
            "protocolVersion": draft.PROTOCOL_VERSION,
            "clientInfo": {"name": info.name, "version": info.version},
            "capabilities": draft_capabilities(options),
        }
    )


def check_required(required: object, offered: Mapping[str, Any]) -> None:
    """Compare what the agent demands with what we offered.

    Raises:
        Unfit: something is missing; says what.
    """
    missing = list(_missing(required, offered)) if isinstance(required, Mapping) else []
    if missing:
        raise Unfit(
            "the agent cannot work with this client, which does not offer what it requires: "
            + ", ".join(missing)
        )


def _missing(required: Mapping[str, Any], offered: Any, place: str = "") -> Iterator[str]:
    has = offered if isinstance(offered, Mapping) else {}
    for name, wanted in required.items():
        path, there = f"{place}{name}", has.get(name)
        if name == "_meta" or wanted is False or wanted is None:
            continue
        if isinstance(wanted, Mapping):
            yield from _missing(wanted, there, f"{path}.")
        elif isinstance(wanted, bool):
            if not there:
                yield path
        elif isinstance(wanted, int | float):
            if not isinstance(there, int | float) or there < wanted:
                yield f"{path} of at least {wanted}"
        elif there != wanted:
            yield path


def read_draft(capabilities: draft.AgentCapabilities, raw: object) -> AgentCapabilities:
    """The agent's capabilities in the words that are the same for every version.

    The draft takes every content block and a system prompt; it lists, resumes, closes and forks
    no sessions.
    """
    servers = capabilities.mcp_capabilities or draft.McpCapabilities()
    reach = (servers.transport or ["stdio"]) if servers.servers else []
    return AgentCapabilities(
        sessions=True,
        load=capabilities.load_session is True,
        system_prompt=True,
        image=True,
        audio=True,
        embedded_context=True,
        mcp_stdio="stdio" in reach,
        mcp_http="http" in reach,
        mcp_sse="sse" in reach,
        mcp_acp=False,
        raw=_with_custom(raw if isinstance(raw, Mapping) else {}),
    )


def _with_custom(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is custom stands in `_meta` in the other versions, and is looked for there."""
    custom, meta = raw.get("_custom"), raw.get("_meta")
    if not isinstance(custom, Mapping):
        return raw
    return {**raw, "_meta": {**custom, **(meta if isinstance(meta, Mapping) else {})}}


def takes_attachments(capabilities: draft.AgentCapabilities) -> bool:
    """Whether prompts may have attachments."""
    found = capabilities.prompt_capabilities
    return found is not UNSET and found.attachments is True


def can_cancel(capabilities: draft.AgentCapabilities) -> bool:
    """Whether turns can be cancelled: yes, unless the agent says no."""
    found = capabilities.prompt_capabilities
    return found is UNSET or found.cancellation is not False


__all__ = [
    "Unfit",
    "can_cancel",
    "check_required",
    "draft_capabilities",
    "draft_initialize",
    "read_draft",
    "takes_attachments",
]
