"""Bytes of a fuzzer as choices: JSON of a type's shape, with mistakes in it.

A fuzzer that only flips bits never gets past the first brace.  Here each byte decides something:
which member is there, which variant, which value, and where it is wrong.

Any bytes give a value, and the same bytes give the same.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec import inspect

T = TypeVar("T")

DEPTH_MAX = 8
# Words that mean something in some place, and words that are trouble in any.
_TEXTS = (
    "a", "b", "", "id1", "é漢😀", "\x00\x1b[31m", "/abs/path", "rel/path", "https://x.example/",
    "aGk=", "x" * 300, "\ud83d", "2030-01-01T00:00:00Z", "_custom", "end_turn", "\u2028</script>",
)  # fmt: skip
_NUMBERS = (0, 1, -1, 2, 1000, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1)
_FLOATS = (0.0, 0.5, 1.0, -1.5, 1e300)
# Stand for numbers that JSON can say and Python's writer cannot.
_ODD = {"@huge@": "1e400", "@zero@": "-0", "@long@": "9" * 400}


class Source:
    """Guards: never raises for want of bytes; beyond the end all choices are the first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_spent(self) -> bool:
        """Whether all that follows is the first choice."""
        return self._at >= len(self._data)

    def byte(self) -> int:
        """The next one."""
        at, self._at = self._at, self._at + 1
        return self._data[at] if at < len(self._data) else 0

    def choose(self, of: Sequence[T]) -> T:
        """One of them."""
        return of[self.byte() % len(of)]

    def chance(self, one_in: int) -> bool:
        """Whether it happens; never, once all bytes are spent."""
        return not self.is_spent and self.byte() % one_in == one_in - 1

    def rest(self) -> bytes:
        """All that is left."""
        rest, self._at = self._data[self._at :], len(self._data)
        return rest

    # ---- values

    def json_of(self, wanted: Any) -> bytes:
        """A JSON text in the shape of a type, mostly."""
        return written(self.value(_info(wanted)))

    def anything(self, depth: int = 0) -> Any:
        """Any small JSON value."""
        kinds: tuple[Callable[[], Any], ...] = (
            lambda: None,
            lambda: True,
            lambda: self.choose(_NUMBERS),
            lambda: self.choose(_TEXTS),
            lambda: self.choose(_FLOATS),
            lambda: self.choose(tuple(_ODD)),
            lambda: [self.anything(depth + 1) for _ in range(self.byte() % 3)],
            lambda: {self.choose(_TEXTS): self.anything(depth + 1) for _ in range(self.byte() % 3)},
        )
        return self.choose(kinds[: 6 if depth > 3 else 8])()

    def value(self, info: Any, depth: int = 0) -> Any:
        """A value of this type, wrong in one place of forty."""
        if isinstance(info, inspect.Metadata):
            info = info.type
        if self.chance(40) or depth > DEPTH_MAX:
            return self.anything()
        match info:
            case inspect.StructType():
                return self._struct(info, depth)
            case inspect.UnionType():
                return self.value(self.choose(info.types), depth + 1)
            case inspect.ListType():
                least = info.min_length or 0
                return [
                    self.value(info.item_type, depth + 1) for _ in range(least + self.byte() % 3)
                ]
            case inspect.DictType():
                return {
                    self.choose(_TEXTS): self.value(info.value_type, depth + 1)
                    for _ in range(self.byte() % 3)
                }
            case inspect.LiteralType():
                return self.choose(info.values)
            case inspect.StrType() | inspect.BytesType():
                return self.choose(_TEXTS)
            case inspect.IntType():
                return self.choose(_NUMBERS)
            case inspect.FloatType():
                return self.choose(_FLOATS)
            case inspect.BoolType():
                return self.choose((True, False))
            case inspect.NoneType():
                return None
            case _:
                return self.anything()

    def _struct(self, info: inspect.StructType, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if info.tag_field is not None and not self.chance(30):
            made[info.tag_field] = info.tag
        for field in info.fields:
            if field.required or (depth < DEPTH_MAX and self.byte() % 3 == 1):
                made[field.encode_name] = self.value(field.type, depth + 1)
        if made and self.chance(20):
            del made[self.choose(tuple(made))]
        if self.chance(20):
            made[self.choose(_TEXTS)] = self.anything()
        return made


def written(value: Any) -> bytes:
    """As JSON, with the numbers that Python cannot write."""
    text = json.dumps(value, separators=(",", ":"))
    for mark, number in _ODD.items():
        text = text.replace(f'"{mark}"', number)
    return text.encode("utf-8", "surrogatepass")


@cache
def _info(wanted: Any) -> Any:
    return inspect.type_info(wanted)
