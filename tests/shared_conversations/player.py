"""Plays the conversations in `recorded`; run as a program, writes what is expected.

The page plays the same files, see `README.md`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.transcript import Transcript
from accord.transcript.items.message import Message

FOLDER = Path(__file__).resolve().parent / "recorded"


def conversations() -> list[Path]:
    """All conversations, by name."""
    return sorted(FOLDER.glob("*.jsonl"))


def expected_file(conversation: Path) -> Path:
    return conversation.with_suffix(".expected.json")


class Player:
    """Feeds events to a transcript."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self._prompts: dict[str, Message] = {}
        self._events: dict[str, Callable[[dict[str, Any]], object]] = {
            "update": self._update,
            "setup": self._setup,
            "permissionSubject": self._permission_subject,
            "promptSent": self._prompt_sent,
            "promptInserted": self._prompt_inserted,
            "promptRejected": self._prompt_rejected,
            "turnStarted": lambda _event: self.transcript.turn_started(),
            "turnCancelled": self._turn_cancelled,
            "optionSelected": lambda event: self.transcript.option_selected(
                event["optionSelected"], event["value"]
            ),
            "modeSelected": lambda event: self.transcript.mode_selected(event["modeSelected"]),
        }

    def play(self, event: dict[str, Any]) -> None:
        """Take one event; what cannot be decoded changes nothing."""
        try:
            self._events[next(iter(event))](event)
        except Invalid:
            pass

    def _update(self, event: dict[str, Any]) -> None:
        body = encode({"sessionId": "s", "update": event["update"]})
        self.transcript.apply(decode(v2.UpdateSessionNotification, body).update)

    def _setup(self, event: dict[str, Any]) -> None:
        result = decode(getattr(v2, event["setup"]), encode(event["result"]))
        self.transcript.session_setup(result)

    def _permission_subject(self, event: dict[str, Any]) -> None:
        patch = decode(v2.ToolCallPatch, encode(event["permissionSubject"]))
        self.transcript.apply_permission_subject(patch)

    def _prompt_sent(self, event: dict[str, Any]) -> None:
        body = encode({"sessionId": "s", "prompt": event["promptSent"]})
        blocks = decode(v2.PromptRequest, body).prompt
        self._prompts[event["as"]] = self.transcript.prompt_sent(blocks)

    def _prompt_inserted(self, event: dict[str, Any]) -> None:
        message = self._prompts[event["promptInserted"]]
        self.transcript.prompt_inserted(message, event["messageId"])

    def _prompt_rejected(self, event: dict[str, Any]) -> None:
        self.transcript.prompt_rejected(self._prompts[event["promptRejected"]])

    def _turn_cancelled(self, event: dict[str, Any]) -> None:
        for call in self.transcript.turn_cancelled():
            if event.get("ends"):
                call.end_cancelled()


def played(conversation: Path) -> dict[str, Any]:
    """The transcript of a conversation, as plain values."""
    player = Player()
    for line in conversation.read_text(encoding="utf-8").splitlines():
        player.play(json.loads(line))
    return player.transcript.dump()


def main() -> None:
    for conversation in conversations():
        text = json.dumps(played(conversation), ensure_ascii=False, indent=1)
        expected_file(conversation).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
