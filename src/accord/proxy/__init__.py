"""Being in between: forwarding, the conductor, and the relay that carries translators."""

from typing import TYPE_CHECKING

from accord.loading import on_first_use

if TYPE_CHECKING:
    from accord.proxy.proxy import Proxy

__getattr__ = on_first_use(__name__, {"Proxy": "accord.proxy.proxy"})

__all__ = ["Proxy"]
