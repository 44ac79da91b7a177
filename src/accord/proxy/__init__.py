"""Being in between: forwarding, the conductor, and the relay that carries translators."""

from typing import TYPE_CHECKING

from accord.loading import on_first_use

if TYPE_CHECKING:
    from accord.proxy.proxy import Proxy
    from accord.proxy.translated import Translated

__getattr__ = on_first_use(
    __name__, {"Proxy": "accord.proxy.proxy", "Translated": "accord.proxy.translated"}
)

__all__ = ["Proxy", "Translated"]
