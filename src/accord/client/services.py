"""Files, terminals and forms: from an agent's request to the service that answers it.

Only what is offered is in the table; v2 has no files and no terminals of the client.
"""

from typing import TYPE_CHECKING, Any

from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.client.options import Options
    from accord.client.serving import Service, Serving


def services_of(serving: "Serving", options: "Options") -> "dict[str, Service]":
    """The methods that this client offers on this link."""
    return {}


def elicitation_completed(elicitation: Any, params: Raw) -> None:
    """The agent says that what was to be done elsewhere is done."""
