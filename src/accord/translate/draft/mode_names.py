"""The names of modes on both sides of a bridge to the 2026-02 draft.

`ask` is a trap: in the draft it answers questions and takes no action; officially it asks for
permission before changes.  So the two never share the name, and a table per agent or session
leads back from each name to the one it was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

DEFAULT_MODE: Final = "default"
DRAFT_ASK: Final = "ask"
OFFICIAL_ASK: Final = "ask"
ASK_PERMISSION: Final = "ask_permission"
ASK_QUESTIONS: Final = "ask_questions"

# The draft's common modes, each with the official mode of the same meaning.
_MEANT: Final = {
    DEFAULT_MODE: OFFICIAL_ASK,
    "code": "auto-edit",
    "architect": "read-only",
    DRAFT_ASK: "read-only",
}
_OF_PERMISSION: Final = ("permission", "approv", "confirm", "before mak", "before any")
_OF_QUESTIONS: Final = ("question", "answer", "no action", "read-only", "read only")


def official_mode(name: str) -> dict[str, Any]:
    """Convert a mode of the draft to the official form."""
    if name == DRAFT_ASK:
        return {
            "id": ASK_QUESTIONS,
            "name": "Ask (questions only)",
            "description": "Answers questions and takes no action",
        }
    return {"id": name, "name": name.replace("_", " ").capitalize() or name}


def draft_mode(mode: Mapping[str, Any]) -> str:
    """Return the draft's name for an official mode, judged by its id, name and description."""
    mode_id = str(mode.get("id"))
    if mode_id == ASK_QUESTIONS:
        return DRAFT_ASK
    if mode_id != OFFICIAL_ASK:
        return mode_id
    text = f"{mode.get('name') or ''} {mode.get('description') or ''}".lower()
    asks_permission = any(word in text for word in _OF_PERMISSION)
    only_answers = any(word in text for word in _OF_QUESTIONS)
    return DRAFT_ASK if only_answers and not asks_permission else ASK_PERMISSION


class ModeNames:
    """The official id of each mode name of the draft.  One to one, both ways."""

    def __init__(self) -> None:
        self._to_draft: dict[str, str] = {}
        self._to_official: dict[str, str] = {}

    @classmethod
    def of_official(cls, modes: Iterable[Mapping[str, Any]]) -> ModeNames:
        """The table for modes that an official agent offers."""
        names = cls()
        for mode in modes:
            names._add(str(mode.get("id")), draft_mode(mode))
        return names

    @classmethod
    def of_draft(cls, modes: Iterable[str]) -> ModeNames:
        """The table for modes that a draft agent offers."""
        names = cls()
        for name in modes:
            names._to_official[name] = official_id = str(official_mode(name)["id"])
            names._to_draft[official_id] = name
        return names

    def _add(self, official_id: str, wanted: str) -> None:
        name, number = wanted, 2
        while self._to_official.get(name, official_id) != official_id:
            name, number = f"{wanted}_{number}", number + 1
        self._to_draft[official_id] = name
        self._to_official[name] = official_id

    def draft(self, official_id: str) -> str:
        """Return the draft's name; an id that was never offered is judged alone."""
        return self._to_draft.get(official_id) or draft_mode({"id": official_id})

    def meant(self, name: str) -> str:
        """Return the offered mode that one of the draft's common names means."""
        if name in self._to_official:
            return name
        return self._to_draft.get(_MEANT.get(name, ""), name)

    def official(self, name: str) -> str:
        """Return the official id; a name that was never offered is judged alone."""
        return self._to_official.get(name) or str(official_mode(name)["id"])

    @property
    def draft_names(self) -> list[str]:
        """Return all names for a draft client, in the order of the official list."""
        return list(self._to_official)

    def knows(self, name: str) -> bool:
        """Whether a mode of this draft name is offered."""
        return name in self._to_official
