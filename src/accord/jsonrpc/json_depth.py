"""How deeply JSON text is nested, found without recursion and mostly without looking.

Must not know: what the text says.
Always holds: linear in the length of the text, whatever the nesting; brackets inside strings do
not count; on text that is valid JSON the answer is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

DEPTH_MAX: Final = 128
"""Levels of objects and arrays that a frame may have, the frame's own object included."""

_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEP: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


# From this length on, finding a bracket beats counting all of them.
LARGE_BYTES = 64 * 1024


def is_deeper(text: bytes, depth_max: int) -> bool:
    """Whether valid JSON nests deeper than `depth_max`."""
    # Most frames are answered here: text with few brackets cannot be deep, in strings or not.
    if len(text) > LARGE_BYTES:
        if has_few(text, b"{", depth_max // 2) and has_few(text, b"[", depth_max // 2):
            return False
    elif text.count(b"{") + text.count(b"[") <= depth_max:
        return False
    brackets = outside_strings(text).translate(None, _NOT_BRACKETS)
    if len(brackets) <= 2 * depth_max:
        return False
    return max(accumulate(map(_STEP.__getitem__, brackets))) > depth_max


def too_deep(depth_max: int) -> str:
    """The sentence by which a message is refused that is nested deeper."""
    return f"nested deeper than {depth_max} levels"


def has_few(text: bytes, mark: bytes, count_max: int) -> bool:
    """Whether a mark stands at most this often in a text: looked for, not counted.

    A large file in a string has few brackets or very many; finding is quick for either.
    """
    at = -1
    for _ in range(count_max + 1):
        at = text.find(mark, at + 1)
        if at < 0:
            return True
    return False


def outside_strings(text: bytes) -> bytes:
    """Valid JSON without its strings.

    Splitting at quotes runs in C and leaves one piece per string; a loop over characters would
    cost more than all the rest of receiving a frame.
    """
    pieces = text.split(b'"')
    if b"\\" not in text:
        return b"".join(pieces[::2])
    outside: list[bytes] = []
    is_inside = False
    for piece in pieces:
        if not is_inside:
            outside.append(piece)
            is_inside = True
        elif piece[-1:] != b"\\" or (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 0:
            is_inside = False
        # else the quote behind this piece was escaped, and the string goes on
    return b"".join(outside)


_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_KEY: Final = re.compile(rb"[{,]\s*+(" + _STRING + rb")\s*+:\s*+", re.DOTALL)
_SCALAR: Final = re.compile(_STRING + rb'|[^\s,\[\]{}":]++', re.DOTALL)
_SPACE: Final = re.compile(rb"\s*+")
# Everything up to a run of brackets that all open or all close.
_TO_BRACKETS: Final = re.compile(
    rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[{]++|[\]}]++)", re.DOTALL
)

NESTED: Final = b"{}"
"""Stands for a member that is an object or array, whose content nobody reads here."""


def shallow_members(text: bytes) -> dict[bytes, bytes]:
    """The members of an object that is too deep for any parser: key text to value text.

    Reads as far as the text is sound, and stops early once it is known which request or answer
    this is, because what follows will not be used.
    """
    members: dict[bytes, bytes] = {}
    for key, value in shallow_pairs(text):
        if not value:
            break
        members[key] = value
        if value is NESTED and b'"id"' in members and not members.keys().isdisjoint(_TELLING):
            break
    return members


def shallow_pairs(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Key text and value text of an object's own members, in order, as far as it is sound.

    A key that comes twice is told twice.  The value is empty where the text breaks off in it.
    """
    at = 0
    while key_match := _KEY.match(text, at):
        key, at = key_match.group(1), key_match.end()
        if text[at : at + 1] in (b"{", b"["):
            yield key, NESTED
            at = _end_of_nested(text, at)
        elif scalar := _SCALAR.match(text, at):
            yield key, scalar.group()
            at = scalar.end()
        else:
            yield key, b""
            return
        space = _SPACE.match(text, at)
        assert space is not None  # it matches nothing, too
        at = space.end()


_TELLING: Final = frozenset((b'"method"', b'"result"', b'"error"'))


def _end_of_nested(text: bytes, at: int) -> int:
    """Where the object or array that starts at `at` ends; the end of the text if it does not."""
    depth = 0
    while run := _TO_BRACKETS.match(text, at):
        at, width = run.end(), run.end(1) - run.start(1)
        depth += width if run.group(1)[:1] in (b"{", b"[") else -width
        if depth <= 0:
            # The run may also close what is around: step back by what it closed too much.
            return at + depth
    return len(text)
