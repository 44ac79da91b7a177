"""Which of the three dialects a connection speaks, judged from the first request and its answer.

An agent judges the `initialize` request, a client judges the answer.  Agents that echo the number
they were asked for are met every day, so a client goes by the shape of the answer, not by the
number.  The 2026-02 draft calls itself version 1 but uses other names; the names give it away.

What always holds
    * A version outside 0..65535, or one that is not a whole number, is refused, never guessed at.
    * Once a dialect is chosen, only an equal repeat before other traffic may follow.
"""

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from accord.jsonrpc.error_codes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_PROTOCOL_VERSION,
)

Dialect = Literal["v1", "v2", "draft"]

# The number that each dialect goes by in `initialize`.
NUMBERS: dict[Dialect, int] = {"v1": 1, "v2": 2, "draft": 1}
VERSION_MAX = 65535


class Chosen(NamedTuple):
    """The dialect to speak, the version number that goes with it, and what was odd on the way."""

    dialect: Dialect
    version: int
    notes: tuple[str, ...] = ()


class Refused(NamedTuple):
    """No dialect: the code, sentence and data to answer (or to report) with."""

    code: int
    message: str
    data: Mapping[str, object] | None = None


def asked_version(params: Mapping[str, object]) -> int | Refused:
    """The version that an `initialize` asks for, or why it cannot be read."""
    if "protocolVersion" not in params:
        return _bad_version("missing required key")
    version = params["protocolVersion"]
    if isinstance(version, bool) or not isinstance(version, int):
        return _bad_version("Expected `int`")
    if not 0 <= version <= VERSION_MAX:
        return _bad_version(f"Expected a version from 0 to {VERSION_MAX}")
    return version


def _bad_version(reason: str) -> Refused:
    return Refused(
        INVALID_PARAMS,
        f"Invalid params: {reason} at $.protocolVersion",
        {"path": "$.protocolVersion", "reason": reason},
    )


def judge_request(params: Mapping[str, object], served: Collection[int]) -> Chosen | Refused:
    """Choose for an agent that serves these versions.

    With v2 among them the highest served version at or below the asked one is chosen; an agent
    without v2 answers its newest to anything, as v1 wants.
    """
    version = asked_version(params)
    if isinstance(version, Refused):
        return version
    if 2 in served and version >= 2:
        if isinstance(params.get("info"), Mapping):
            return Chosen("v2", 2)
        if version == 2:
            reason = "Expected `object`" if "info" in params else "missing required key"
            return Refused(
                INVALID_PARAMS,
                f"Invalid params: {reason} at $.info",
                {"path": "$.info", "reason": reason},
            )
        return Chosen("v2", 2, ("no info in initialize; the client is unknown",))
    if 1 not in served:
        return Refused(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"Protocol version {version} is not supported",
            {"requested": version, "supported": sorted(served)},
        )
    # A newer client whose `capabilities` we cannot read does not speak the draft.
    return _official_or_draft(params) if version <= 1 else Chosen("v1", 1)


def _official_or_draft(params: Mapping[str, object]) -> Chosen:
    if "clientCapabilities" in params:
        return Chosen("v1", 1)
    if isinstance(params.get("info"), Mapping):
        # The draft has no such key: a client that knows v2 asks for v1.
        return Chosen("v1", 1, ("v1 asked for with the keys of v2",))
    capabilities = params.get("capabilities")
    if not isinstance(capabilities, Mapping):
        return Chosen("v1", 1)
    files = capabilities.get("fs")
    mixed = isinstance(files, Mapping) and ("readTextFile" in files or "writeTextFile" in files)
    if mixed or isinstance(capabilities.get("terminal"), bool):
        return Chosen("v1", 1, ("v1 capabilities under the key `capabilities`",))
    return Chosen("draft", 1)


def in_v1_keys(params: Mapping[str, object]) -> Mapping[str, object]:
    """An `initialize` that was taken for v1, with what it says under other keys moved to v1's."""
    version = asked_version(params)
    moved = {"clientCapabilities": params.get("capabilities"), "clientInfo": params.get("info")}
    if isinstance(version, Refused) or version > 1 or "clientCapabilities" in params:
        return params
    found = {
        key: value
        for key, value in moved.items()
        if isinstance(value, Mapping) and key not in params
    }
    return {**params, **found} if found else params


def judge_answer(result: Mapping[str, object], spoken: Collection[int]) -> Chosen | Refused:
    """Judge an agent's answer by its shape, for a client that speaks these versions."""
    version = asked_version(result)
    if isinstance(version, Refused):
        return Refused(INVALID_REQUEST, "the agent's initialize answer names no valid version")
    if version not in (1, 2):
        return Refused(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"the agent answered with protocol version {version}, which accord does not speak",
            {"requested": max(spoken), "supported": [version]},
        )
    dialect = _answer_dialect(result)
    number = NUMBERS[dialect]
    if number not in spoken:
        return Refused(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"the agent speaks version {number}, which this client was told not to speak",
            {"requested": max(spoken), "supported": [number]},
        )
    if number != version:
        note = f"the agent answered version {version} in the shape of version {number}"
        return Chosen(dialect, number, (note,))
    return Chosen(dialect, number)


def _answer_dialect(result: Mapping[str, object]) -> Dialect:
    if isinstance(result.get("info"), Mapping):
        return "v2"
    if "agentCapabilities" in result:
        return "v1"
    if "capabilities" in result and "agentInfo" in result:
        return "draft"
    return "v1"


# Keys by which a request of the draft shows itself, each beside the official key in its place.
_FINGERPRINTS = {
    "session/new": ("workingDirectory", "cwd"),
    "session/prompt": ("content", "prompt"),
    "session/set_mode": ("mode", "modeId"),
    "session/set_config_option": ("key", "configId"),
    "session/request_permission": ("operation", "toolCall"),
    "authenticate": ("method", "methodId"),
}


def may_be_draft(method: str) -> bool:
    """Whether requests of this method can show that a peer speaks the draft."""
    return method in _FINGERPRINTS


def looks_like_draft(method: str, params: object) -> bool:
    """Whether a request is of the draft and not official, whatever `initialize` made of its sender.

    It counts only before official traffic: a peer that changes its dialect later is refused.
    """
    keys = _FINGERPRINTS.get(method)
    if keys is None or not isinstance(params, Mapping):
        return False
    own, official = keys
    return own in params and official not in params


class Initialization:
    """What an agent's side of a connection may accept, from the first byte on.

    Guards one invariant: nothing but `initialize` is served before one succeeded, and a repeat
    never changes the version or disturbs a conversation that has begun.
    """

    def __init__(self) -> None:
        self._chosen: Chosen | None = None
        self._begun = False

    @property
    def chosen(self) -> Chosen | None:
        """The dialect of the latest successful `initialize`."""
        return self._chosen

    def forbids(self, chosen: Chosen) -> Refused | None:
        """Why this `initialize` cannot succeed now, whatever else it says."""
        if self._chosen is None:
            return None
        if chosen.dialect != self._chosen.dialect and chosen.version == self._chosen.version:
            return Refused(INVALID_PARAMS, "a connection keeps the dialect that it began with")
        if self._begun:
            return Refused(INVALID_REQUEST, "initialize may not be repeated after other requests")
        if chosen.version != self._chosen.version:
            return Refused(INVALID_REQUEST, "a repeated initialize must keep its version")
        return None

    def admit_initialize(self, chosen: Chosen) -> Refused | None:
        """May this `initialize` succeed now?  If so it is the one that counts."""
        refused = self.forbids(chosen)
        if refused is None:
            self._chosen = chosen
        return refused

    @property
    def is_undecided(self) -> bool:
        """Whether the peer may still show that it speaks the draft."""
        return not self._begun and self._chosen is not None and self._chosen.dialect == "v1"

    def is_draft_after_all(self) -> None:
        """The first request showed the draft."""
        self._chosen = Chosen("draft", 1)

    def admit(self, method: str) -> Refused | None:
        """May another request be served now?"""
        if self._chosen is None:
            return Refused(INVALID_REQUEST, f"{method} came before initialize")
        self._begun = True
        return None
