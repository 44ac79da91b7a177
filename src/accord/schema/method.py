"""One row of a version's method table, and how its params and its result are read."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from accord.schema.codec import Invalid, Raw, decode

Kind = Literal["request", "notification"]
Side = Literal["agent", "client", "proxy"]
Rows = dict[str, tuple[Any, ...]]

# The names that code outside the method tables uses for every version.
CANCEL_REQUEST: Final = "$/cancel_request"
SESSION_UPDATE: Final = "session/update"
# The key in `_meta` under which the translator keeps what only the 2026-02 draft has.
DRAFT_META: Final = "acp.draft/2026-02"

_EMPTY = b"{}"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol, as data that negotiation, dispatch, tests and docs can walk.

    `side` is the side that handles it.  `gate` is the capability that must have been advertised by
    the handling side, as a dotted path from the root of its capabilities (`fs.readTextFile`), or
    None where the method needs none.  `params` and `result` are what the codec decodes to; a
    notification has no result.
    """

    name: str
    side: Side
    kind: Kind
    params: Any
    result: Any = None
    gate: str | None = None
    unstable: bool = False

    def decode_params(
        self, raw: bytes | Raw | None, *, notes: list[str] | None = None, strict: bool = False
    ) -> Any:
        """Read the params; absent ones (None) count as an empty object, and so does null.

        Raises:
            Invalid: they are not of this method's type; says where and why.
        """
        if raw is None:
            return decode(self.params, _EMPTY, notes=notes, strict=strict)
        return _decode_nullable(self.params, raw, notes, strict)

    def decode_result(
        self, raw: bytes | Raw, *, notes: list[str] | None = None, strict: bool = False
    ) -> Any:
        """Read the result; null counts as an empty object where an empty object is a result.

        Raises:
            Invalid: it is not of this method's type; says where and why.
        """
        return _decode_nullable(self.result, raw, notes, strict)


def _decode_nullable(wanted: Any, raw: bytes | Raw, notes: list[str] | None, strict: bool) -> Any:
    """Older documents show null where the schema has an object, and peers still send it."""
    try:
        return decode(wanted, raw, notes=notes, strict=strict)
    except Invalid:
        if strict or bytes(raw).strip() != b"null":
            raise
    try:
        value = decode(wanted, _EMPTY)
    except Invalid as error:
        raise Invalid("$", f"Expected `object`, got `null`; {error}") from None
    if notes is not None:
        notes.append("null, read as an empty object (at $)")
    return value


def table(
    side: Side, stable: Rows | None = None, unstable: Rows | None = None
) -> dict[str, Method]:
    """Index the methods that one side handles by name.

    A row is the type of the params, the type of the result and the gate, as far as the method has
    them.  A method that is both stable and unstable is an error.
    """
    stable, unstable = stable or {}, unstable or {}
    assert not stable.keys() & unstable.keys(), "a method is listed twice"
    return {
        name: _method(name, side, *row, unstable=name in unstable)
        for name, row in (stable | unstable).items()
    }


def _method(
    name: str,
    side: Side,
    params: Any,
    result: Any = None,
    gate: str | None = None,
    *,
    unstable: bool,
) -> Method:
    kind: Kind = "notification" if result is None else "request"
    return Method(name, side, kind, params, result, gate, unstable)
