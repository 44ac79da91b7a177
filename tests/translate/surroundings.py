"""Surroundings for translators in tests: a clock that stands still, ids that count."""

from collections.abc import Mapping

from accord.translate.message import Json, Surroundings


class Around:
    """What a translator is made with, and what it did with it."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self.files = dict(files or {})
        self.time = 100.0
        self.secrets: list[tuple[str, Json]] = []
        self.said: list[str] = []
        self._count = 0
        # Fresh names of another process are others.
        self.process = "fresh"

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(
            now=lambda: self.time,
            stamp=lambda: "2026-02-04T10:00:00Z",
            fresh=self._fresh,
            read_text=self.files.get,
            keep_secret=lambda method, credentials: self.secrets.append((method, credentials)),
            log=self.said.append,
        )

    def _fresh(self) -> str:
        self._count += 1
        return f"{self.process}-{self._count}"
