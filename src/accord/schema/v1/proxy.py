"""`proxy/*`: the hop between a conductor and a proxy.  All of it is unstable."""

from typing import ClassVar, TypeAlias

from accord.schema.struct import UNSET, Omit, Raw, UnstableStruct
from accord.schema.v1.initialize import InitializeRequest, InitializeResponse


class InitializeProxyRequest(InitializeRequest, frozen=True, kw_only=True):
    """`initialize` for a component that has a successor."""

    __unstable__: ClassVar[bool] = True


class InitializeProxyResponse(InitializeResponse, frozen=True, kw_only=True):
    """What the chain from this proxy on can do."""

    __unstable__: ClassVar[bool] = True


class ProxySuccessorRequest(UnstableStruct, frozen=True, kw_only=True):
    """A request to, or from, the successor, wrapped; its `_meta` concerns this hop alone."""

    method: str
    params: Omit[Raw] = UNSET


class ProxySuccessorNotification(UnstableStruct, frozen=True, kw_only=True):
    """A notification to, or from, the successor, wrapped."""

    method: str
    params: Omit[Raw] = UNSET


# The result of the wrapped request, unchanged.
ProxySuccessorResponse: TypeAlias = Raw
