"""Being in between: forwarding, the conductor, and the relay that carries translators."""

from typing import TYPE_CHECKING

from accord.lazy_names import on_first_use

if TYPE_CHECKING:
    from accord.proxy.message import Forward, Message, Response
    from accord.proxy.proxy import Proxy
    from accord.proxy.relay.translated_transport import Translated

_PLACE_OF = {
    "Forward": "accord.proxy.message",
    "Message": "accord.proxy.message",
    "Proxy": "accord.proxy.proxy",
    "Response": "accord.proxy.message",
    "Translated": "accord.proxy.relay.translated_transport",
}

__getattr__ = on_first_use(__name__, _PLACE_OF)

__all__ = ["Forward", "Message", "Proxy", "Response", "Translated"]
