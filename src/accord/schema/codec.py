"""Between wire types and bytes.  Native and strict first; tolerant only when that fails.

Good input pays for nothing but msgspec's own decoder.  What that refuses is read a second time
by `tolerant_reader.py`, which knows the tolerances of each field, keeps unknown variants, and
otherwise names the path of the bad field.

Invariant: `decode` raises `Invalid` and nothing else, whatever the bytes.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Raw

from accord.schema.invalid import Invalid
from accord.schema.struct import UnknownVariant

if TYPE_CHECKING:
    from accord.schema.tolerant_reader import Reader

T = TypeVar("T")


def _to_native(value: object) -> object:
    if isinstance(value, UnknownVariant):
        return Raw(value.raw)
    raise TypeError(f"{type(value).__name__} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_to_native)
encode = _encoder.encode
# Into a bytearray, at its end where the place is -1: for many that are sent together.
encode_into = _encoder.encode_into


@cache
def native(wanted: Any) -> msgspec.json.Decoder[Any]:
    """The strict decoder of a type, made once."""
    return msgspec.json.Decoder(wanted)


@cache
def _reader(wanted: Any) -> "Reader":
    # Loaded with the first odd message: a start with good ones need not wait for it.
    from accord.schema.tolerant_reader import Reader

    return Reader(wanted)


def decode(
    wanted: type[T], raw: bytes | Raw, *, notes: list[str] | None = None, strict: bool = False
) -> T:
    """Read `raw` as `wanted`.

    What had to be tolerated is appended to `notes`, one sentence each.  With `strict`, unknown
    keys, unknown variants and everything else that would be a note is refused.

    Raises:
        Invalid: not JSON, or not of this type even with every tolerance; says where and why.
    """
    if not strict:
        try:
            value: T = native(cast("Any", wanted)).decode(raw)
            return value
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
    return decode_slowly(wanted, bytes(raw), notes=notes, strict=strict)


_TOLERANCE = re.compile(r"(malformed, read as absent|malformed, read as null|bad item dropped): ")


def conform(wanted: Any, value: object) -> None:
    """Refuse a value of our own that is not of a type to the letter, before anybody is sent it.

    What is not a tolerance but a choice is let through: variants whose tag starts with `_`.

    Raises:
        Invalid: says where and why.
    """
    try:
        raw = encode(value)
    except (TypeError, OverflowError, RecursionError, UnicodeEncodeError) as error:
        raise Invalid("$", f"no JSON: {error}") from None
    try:
        native(wanted).decode(raw)
    except msgspec.DecodeError:
        notes: list[str] = []
        decode_slowly(wanted, raw, notes=notes)
        for note in notes:
            if not note.startswith("unknown variant '_"):
                reason, _, path = note.removesuffix(")").rpartition(" (at ")
                # The tolerances of receivers do not matter to a sender that may not send it.
                raise Invalid(path, _TOLERANCE.sub("", reason)) from None


Report: TypeAlias = Callable[[str], None]
"""Called with each deviation that was tolerated, and the type it was found in."""


def ignore(note: str) -> None:
    """Do not report a deviation that was tolerated."""


class Decoding:
    """`decode` with its strictness, and with the receiver of its notes, chosen once.

    The native decoder skips unknown keys, which makes it fast.  While `wants_unknown` returns true,
    they are looked for in a second pass and reported too, except in the type `shared`.
    """

    def __init__(
        self,
        *,
        strict: bool = False,
        report: Report = ignore,
        wants_unknown: Callable[[], bool] | None = None,
        shared: type | None = None,
    ) -> None:
        self._strict = strict
        self._report = report
        self._wants_unknown = None if strict else wants_unknown
        self._shared = shared

    def __call__(self, wanted: type[T], raw: bytes | Raw) -> T:
        """Read `raw` as `wanted`; raises as `decode` does."""
        value = self._read(wanted, raw)
        wants_unknown = self._wants_unknown
        if wants_unknown is not None and wanted is not self._shared and wants_unknown():
            self._report_unknown(wanted, raw)
        return value

    def _read(self, wanted: type[T], raw: bytes | Raw) -> T:
        notes: list[str] = []
        value = decode(wanted, raw, notes=notes, strict=self._strict)
        for note in notes:
            self._report(f"{getattr(wanted, '__name__', 'message')}: {note}")
        return value

    def _report_unknown(self, wanted: type[T], raw: bytes | Raw) -> None:
        try:
            decode(wanted, raw, strict=True)
        except Invalid as error:
            # The first pass has reported every other deviation.
            if error.reason == "unknown key":
                self._report(f"{getattr(wanted, '__name__', 'message')}: {error}")

    def reading(self, wanted: Any) -> Callable[[bytes | Raw], Any]:
        """The same for one type with everything looked up once: for what comes very often.

        Unknown keys are not reported.
        """
        if self._strict:
            return partial(self._read, wanted)
        read_native = native(wanted).decode

        def read(raw: bytes | Raw) -> Any:
            try:
                return read_native(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return self._read(wanted, raw)

        return read


def reading(wanted: Any, *, strict: bool = False) -> Callable[[bytes | Raw], Any]:
    """`Decoding.reading` for whom notes do not matter."""
    return Decoding(strict=strict).reading(wanted)


def decode_slowly(
    wanted: type[T], raw: bytes, *, notes: list[str] | None = None, strict: bool = False
) -> T:
    """The second reading, for input that the native decoder refused."""
    try:
        repaired = repair_surrogates(raw)
        msgspec.json.decode(repaired, type=Raw)
        value: T = _reader(cast("Any", wanted)).read(repaired, notes, strict)
        return value
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid("$", f"not JSON: {error}") from None
    except RecursionError:
        raise Invalid("$", "nested too deeply") from None


# Every backslash of JSON text starts an escape of two or six characters, so a scan from left to
# right over escapes cannot mistake an escaped backslash for the start of another one.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:(\\u[dD][c-fC-F][0-9a-fA-F]{2}))?"
    rb"|(u[dD][c-fC-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def repair_surrogates(raw: bytes) -> bytes:
    r"""Replace surrogate escapes that have no partner by U+FFFD.

    JavaScript emits a lone "\ud83d" when it cuts a string inside an emoji; msgspec refuses it.
    """
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    return _ESCAPE.sub(_repaired, raw)


def _repaired(match: re.Match[bytes]) -> bytes:
    text = match.group()
    is_high = text[1:3] in (b"ud", b"uD") and text[3:4] in b"89abAB"
    if (is_high and match.group(1) is None) or match.group(2) is not None:
        return rb"\ufffd"
    return text


def to_python(raw: bytes | Raw) -> Any:
    """The plain Python value of JSON text that is passed on unread otherwise."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.json.decode(repair_surrogates(bytes(raw)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid("$", f"not JSON that fits Python: {error}") from None


def to_raw(value: object) -> Raw:
    """JSON text of a plain Python value, for a field that holds any JSON."""
    return value if isinstance(value, Raw) else Raw(encode(value))


__all__ = [
    "Decoding",
    "Invalid",
    "Raw",
    "Report",
    "conform",
    "decode",
    "decode_slowly",
    "encode",
    "encode_into",
    "ignore",
    "native",
    "reading",
    "repair_surrogates",
    "to_python",
    "to_raw",
]
