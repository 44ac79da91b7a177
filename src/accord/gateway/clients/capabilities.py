"""What either side says in `initialize` that concerns the gateway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from accord.gateway.agents.agent_process import Version
from accord.gateway.clients.people_requests import PRESENCE
from accord.gateway.sessions.requests.primary_requests import services_in
from accord.gateway.sessions.session_versions import VERSIONS
from accord.protocol.extensions import advertised, read_advertised


class ClientAbilities:
    """What a client has said that it can do."""

    def __init__(self, version: Version, initialize: Mapping[str, Any]) -> None:
        found = initialize.get(VERSIONS[version].client_capabilities)
        capabilities = found if isinstance(found, Mapping) else {}
        self.understood = read_advertised(capabilities)
        """The extensions that the client understands."""
        self.services = services_in(capabilities)


def with_gateway(
    answer: Mapping[str, Any], version: Version, methods: Iterable[str]
) -> dict[str, Any]:
    """Add to an agent's answer to `initialize` what the gateway does: of `methods` its own."""
    of_version = VERSIONS[version]
    key = of_version.agent_capabilities
    capabilities = of_version.with_gateway(answer.get(key) or {})
    meta = dict(capabilities.get("_meta") or {})
    own = sorted({PRESENCE, *(method for method in methods if method.startswith("_accord."))})
    meta |= advertised([*read_advertised(capabilities), *own])
    return {**answer, key: {**capabilities, "_meta": meta}}
