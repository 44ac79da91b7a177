"""The hop between a proxy and the component behind it.  Unstable.

What is wrapped stays JSON text: a proxy passes on what it does not understand.
"""

from typing import ClassVar, TypeAlias

from accord.schema.struct import UNSET, Omit, Raw, UnstableStruct
from accord.schema.v2.initialize import InitializeRequest, InitializeResponse


class InitializeProxyRequest(InitializeRequest, frozen=True, kw_only=True):
    """`initialize` for a component that has a successor."""

    __unstable__: ClassVar[bool] = True


class InitializeProxyResponse(InitializeResponse, frozen=True, kw_only=True):
    """What the chain can do, from this component on."""

    __unstable__: ClassVar[bool] = True


class ProxySuccessorRequest(UnstableStruct, frozen=True, kw_only=True):
    """A request to the successor, or from it."""

    method: str
    params: Omit[Raw] = UNSET


class ProxySuccessorNotification(UnstableStruct, frozen=True, kw_only=True):
    """A notification to the successor, or from it."""

    method: str
    params: Omit[Raw] = UNSET


# The result of the wrapped request, unchanged.
ProxySuccessorResponse: TypeAlias = Raw
