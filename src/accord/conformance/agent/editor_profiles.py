"""Profiles of editors: the capabilities of each in `initialize`, and one unusual habit.

Must not know: any check.  What is public about an editor is taken over; what is not known of it is
left out, and so off.  A profile is a client to test against, not a judgement of the editor.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from accord.conformance.frames.raw_peer import Message
from accord.conformance.rule_definition import Version

_FILES: Message = {"readTextFile": True, "writeTextFile": True}
# The number of a version, and its keys for the client's name and for its capabilities.
_KEYS: dict[Version, tuple[int, str, str]] = {
    "1": (1, "clientInfo", "clientCapabilities"),
    "2": (2, "info", "capabilities"),
    "draft": (1, "clientInfo", "capabilities"),
}


@dataclass(frozen=True, slots=True)
class EditorProfile:
    """One editor: its name, its capabilities in version 1, and what an author must know."""

    name: str
    capabilities: Message = field(default_factory=dict)
    mind: str = ""

    def hello(self, version: Version = "1") -> Message:
        """Return the params of `initialize`; version 2 has no files and terminals of clients."""
        number, info, offer = _KEYS[version]
        offered = {"1": self.capabilities, "2": self._of_v2(), "draft": self._of_draft()}
        return {
            "protocolVersion": number,
            info: {"name": self.name, "version": "0"},
            offer: offered[version],
        }

    def _of_v2(self) -> Message:
        return {key: offer for key, offer in self.capabilities.items() if key == "elicitation"}

    def _of_draft(self) -> Message:
        """Return the same capabilities in the form of the 2026-02 draft."""
        files = self.capabilities.get("fs", {})
        return {
            "fs": {
                "read": files.get("readTextFile", False),
                "write": files.get("writeTextFile", False),
            },
            "terminal": {"create": self.capabilities.get("terminal", False)},
        }


PROFILES: dict[str, EditorProfile] = {
    one.name: one
    for one in (
        EditorProfile("nothing", {}, "offers nothing; every agent must work with it"),
        EditorProfile(
            "everything",
            {
                "fs": _FILES,
                "terminal": True,
                "auth": {"terminal": True},
                "elicitation": {"form": {}, "url": {}},
                "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
                "plan": {},
            },
            "offers everything that version 1 has",
        ),
        EditorProfile(
            "zed",
            {"fs": _FILES, "terminal": True},
            "reviews hunks of what is written through it, not of what an agent writes itself",
        ),
        EditorProfile(
            "jetbrains",
            {"fs": _FILES, "terminal": True},
            "hangs if an update comes before the answer to session/new",
        ),
        EditorProfile("toad", {"fs": _FILES, "terminal": True}, "sends no images"),
        EditorProfile("acpx", {"fs": _FILES, "terminal": True}, "has no user to ask"),
        EditorProfile("agent-shell", {"fs": _FILES}, "has no terminals"),
        EditorProfile("codecompanion", {"fs": _FILES}, "has no terminals and shows no plan"),
    )
}
