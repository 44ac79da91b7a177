"""Tables of a TOML file; each error names the file, the key and the valid values.

Must not know what any key is for.

What always holds
    * A value of a wrong type is an error.
    * An unused key is a warning: a newer version may know it.
    * No message quotes a value: some values are secrets.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from accord.errors import ConfigError

FILE_BYTES_MAX = 1 << 20
"""A larger file is not a configuration."""

_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def read_toml(path: Path) -> Table | None:
    """Return the table of a file; None if there is no file.

    Raises:
        ConfigError: it cannot be read, or is not TOML.
    """
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", file=str(path)) from None
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError(f"{path}: larger than {FILE_BYTES_MAX} bytes", file=str(path))
    try:
        return Table(path, tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        # The parser's message has the line and the column, and at most one character of the text.
        raise ConfigError(f"{path}: not valid TOML: {error}", file=str(path)) from None


class Table:
    """One table; keys that were never read are `unknown`."""

    def __init__(self, file: Path, values: dict[str, Any], key: str = "") -> None:
        self._file = file
        self._values = values
        self._key = key
        self._taken: set[str] = set()
        self._below: list[Table] = []

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def holds_table(self, name: str) -> bool:
        """Whether a key that may have two forms has a table."""
        return isinstance(self._values.get(name), dict)

    def wrong(self, name: str, reason: str) -> ConfigError:
        """Return the error for a key of this table."""
        key = _joined(self._key, name)
        return ConfigError(f"{self._file}: {key}: {reason}", file=str(self._file), key=key)

    def text(self, name: str, *, among: Collection[str] = ()) -> str | None:
        """Return a text, one of `among` if given; None if the key is missing."""
        value = self._take(name, str)
        if value is None:
            return None
        if among and value not in among:
            raise self.wrong(name, f"must be one of {', '.join(among)}")
        if not value.strip():
            raise self.wrong(name, "must not be empty")
        return str(value)

    def optional_text(self, name: str) -> str | None:
        """Return a text that may be empty."""
        value = self._take(name, str)
        return None if value is None else str(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self._take(name, bool)
        return default if value is None else bool(value)

    def whole(self, name: str, *, least: int = 1) -> int | None:
        """Return a whole number of at least `least`."""
        value = self._take(name, int)
        if value is None:
            return None
        if isinstance(value, bool) or value < least:
            raise self.wrong(name, f"must be a whole number, {least} or more")
        return int(value)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return a list of texts."""
        value = self._take(name, list)
        if value is None:
            return None
        if not all(isinstance(one, str) for one in value):
            raise self.wrong(name, "must be a list of texts")
        return tuple(value)

    def one_or_more(self, name: str) -> tuple[str, ...] | None:
        """Return a list of texts, none of them empty; a single text is a list of one."""
        if isinstance(self._values.get(name), list):
            found = self.texts(name)
        else:
            one = self.text(name)
            found = None if one is None else (one,)
        if found is not None and not all(text.strip() for text in found):
            raise self.wrong(name, "must not be empty")
        return found

    def words(self, name: str) -> tuple[str, ...] | None:
        """Return a command: a list of words, or a text that is split as in a shell."""
        if isinstance(self._values.get(name), str):
            import shlex

            try:
                words = tuple(shlex.split(self._values[name]))
            except ValueError as error:
                raise self.wrong(name, f"cannot be split into words: {error}") from None
            self._taken.add(name)
        else:
            found = self.texts(name)
            if found is None:
                return None
            words = found
        if not words or not words[0]:
            raise self.wrong(name, "must contain at least the name of a program")
        return words

    def text_map(self, name: str) -> dict[str, str]:
        """Return a table of texts; empty if it is missing."""
        value = self._take(name, dict) or {}
        for key, one in value.items():
            if not isinstance(one, str):
                raise self.wrong(_joined(name, key), "must be text")
        return dict(value)

    def text_lists(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return a table of lists of texts; a single text is a list of one."""
        found: dict[str, tuple[str, ...]] = {}
        for key, value in (self._take(name, dict) or {}).items():
            texts = value if isinstance(value, list) else [value]
            if not all(isinstance(one, str) for one in texts):
                raise self.wrong(_joined(name, key), "must be text, or a list of texts")
            found[key] = tuple(texts)
        return found

    def table(self, name: str) -> Table:
        """Return an inner table; empty if it is missing."""
        value = self._take(name, dict)
        return self._inner(name, {} if value is None else value)

    def tables(self, name: str) -> dict[str, Table]:
        return dict(self.table(name)._each())

    def list_of_tables(self, name: str) -> list[Table]:
        """Return the `[[name]]` tables in order."""
        value = self._take(name, list) or []
        if not all(isinstance(one, dict) for one in value):
            raise self.wrong(name, f"must be a list of tables, written [[{name}]]")
        return [self._inner(f"{name}[{index}]", one) for index, one in enumerate(value)]

    def unknown(self) -> list[str]:
        """Return warnings for the unused keys of this table and of its inner tables."""
        found = [
            f"{self._file}: {_joined(self._key, name)} is unknown and has no effect"
            for name in self._values
            if name not in self._taken
        ]
        for table in self._below:
            found += table.unknown()
        return found

    def _each(self) -> Iterable[tuple[str, Table]]:
        for name in self._values:
            yield name, self.table(name)

    def _inner(self, name: str, values: dict[str, Any]) -> Table:
        inner = Table(self._file, values, _joined(self._key, name))
        self._below.append(inner)
        return inner

    def _take(self, name: str, kind: type) -> Any:
        self._taken.add(name)
        value = self._values.get(name)
        if value is not None and not isinstance(value, kind):
            raise self.wrong(name, f"must be {_NAMES[kind]}")
        return value


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
