"""Updates and answers as they come from the wire: JSON through the codec, tolerances included."""

from collections.abc import Callable
from typing import Any

from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.transcript import Transcript, Update


def v1_update(tag: str, **fields: object) -> Any:
    """An update of v1; a trailing underscore makes a key that starts with one: `meta_`."""
    body = {"sessionId": "s", "update": {"sessionUpdate": tag, **_wire_keys(fields)}}
    return decode(v1.SessionNotification, encode(body)).update


def v2_update(tag: str, **fields: object) -> Any:
    """An update of v2."""
    body = {"sessionId": "s", "update": {"sessionUpdate": tag, **_wire_keys(fields)}}
    return decode(v2.UpdateSessionNotification, encode(body)).update


def _wire_keys(fields: dict[str, object]) -> dict[str, object]:
    return {"_meta" if key == "meta_" else key: value for key, value in fields.items()}


def text(words: str) -> dict[str, object]:
    """A text block."""
    return {"type": "text", "text": words}


def image() -> dict[str, object]:
    """A picture of four bytes."""
    return {"type": "image", "data": "AAAAAA==", "mimeType": "image/png"}


class Folding:
    """A transcript and the shortest way to feed it."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.transcript = Transcript()
        self._make = make

    def __call__(self, tag: str, **fields: object) -> Update:
        """Apply an update that must change something."""
        update = self.transcript.apply(self._make(tag, **fields))
        assert update is not None
        return update

    def ignored(self, tag: str, **fields: object) -> bool:
        """Apply an update; whether it changed nothing."""
        return self.transcript.apply(self._make(tag, **fields)) is None

    def texts(self) -> list[tuple[str, str]]:
        """Role and text of the messages."""
        return [(message.role, message.text) for message in self.transcript.messages]

    def dumped(self, name: str) -> Any:
        """One part of the dump."""
        return self.transcript.dump()[name]


def folding_v1() -> Folding:
    """An empty transcript that takes v1."""
    return Folding(v1_update)


def folding_v2() -> Folding:
    """An empty transcript that takes v2."""
    return Folding(v2_update)
