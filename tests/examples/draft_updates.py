"""Updates of the 2026-02 draft as our own client folds them: behind the translator, as v1."""

from collections.abc import Iterable, Iterator
from typing import Any

from accord.schema import v1
from accord.schema.codec import decode, encode
from tests.examples.examples import Json
from tests.translate.draft.open_sessions import Behind


def as_v1(told: Iterable[Json]) -> Iterator[Any]:
    """The updates that the client gets for these params of `session/update`."""
    scene = Behind(details=True)
    scene.initialize()
    scene.open()
    scene.prompt()
    for params in told:
        for update in scene.update(params["type"], params["data"]):
            yield decode(
                v1.SessionNotification, encode({"sessionId": "s", "update": update})
            ).update
