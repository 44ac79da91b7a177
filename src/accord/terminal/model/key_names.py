"""The names of keys: in the configuration, in Textual, and for display.

This module does not know what any key does.
"""

from __future__ import annotations

import unicodedata

_NAMED = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete"}
    | {"backspace", "tab", "enter", "escape", "space", "menu", "pause", "print_screen"}
    | {f"f{number}" for number in range(1, 25)}
)
_MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
# Names in the configuration.
_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "del": "delete",
    "ins": "insert",
    "control": "ctrl",
    "option": "alt",
    "cmd": "super",
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
_SHOWN = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "delete": "Del",
    "insert": "Ins",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
# Keys that type a character when pressed alone.
_TYPED = frozenset({"space", "backspace"})
# The only action that such a key may have: it works while the prompt is empty.
_MAY_BE_TYPED = "help"


def key_named(text: str) -> str | None:
    """Convert a key of the configuration to Textual's name; None if there is no such key.

    Case, `-` for `+`, the order of ctrl, alt and shift, and short names do not matter.
    """
    text = text.strip()
    if len(text) == 1:
        return _named(text)
    joined = text.replace("-", "+") if "+" not in text[:-1] else text
    if joined.endswith("++"):
        joined = joined[:-1] + "plus"
    *before, last = joined.split("+")
    modifiers = {_ALIASES.get(one, one) for one in (one.strip().lower() for one in before)}
    if not modifiers.issubset(_MODIFIERS):
        return None
    key = _named(last.strip() if len(last.strip()) != 1 else last.strip().lower())
    if key is None:
        return None
    if len(key) == 1 and modifiers == {"shift"}:
        return key.upper()
    return "+".join((*sorted(modifiers), key))


def _named(text: str) -> str | None:
    if len(text) == 1:
        if text.isalnum():
            return text
        if not text.isprintable() or text == " ":
            return None
        text = unicodedata.name(text, "").replace("-", "_").replace(" ", "_")
        return _ALIASES.get(text.lower(), text.lower()) or None
    lowered = text.lower()
    name = _ALIASES.get(lowered, lowered)
    return name if name in _NAMED or _character(name) is not None else None


def _character(name: str) -> str | None:
    # Names of characters are those of Unicode, with a few exceptions.
    unicode = next((long for long, short in _ALIASES.items() if short == name), name)
    try:
        found = unicodedata.lookup(
            unicode.replace("_", " ").replace("hyphen minus", "hyphen-minus")
        )
    except KeyError:
        return None
    return found if found.isascii() and found.isprintable() and found != " " else None


def is_typed(key: str) -> bool:
    """Whether the key, pressed alone, types a character."""
    return "+" not in key and (key in _TYPED or key not in _NAMED)


def key_text(key: str) -> str:
    """A key for display: `Ctrl+PgDn`, `?`."""
    *modifiers, last = key.split("+")
    shown = _SHOWN.get(last)
    if shown is None:
        character = None if len(last) == 1 or last in _NAMED else _character(last)
        shown = character or last.replace("_", " ")
        if len(shown) == 1 and shown.isascii() and modifiers:
            shown = shown.upper()
        shown = shown if len(shown) == 1 else shown.capitalize()
    return "+".join((*(one.capitalize() for one in modifiers), shown))


def may_have(action: str, key: str) -> bool:
    """Whether the action may use this key: one that types a character is needed for typing."""
    return action == _MAY_BE_TYPED or not is_typed(key)
