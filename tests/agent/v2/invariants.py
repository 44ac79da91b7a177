"""What must hold of everything that an agent sends in v2, whatever its client does."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.agent.raw_client import Message, RawClient

FINAL = ("completed", "failed", "cancelled")
ORDER = {"pending": 0, "in_progress": 1, **dict.fromkeys(FINAL, 2)}
FOLLOWS = {
    "idle": ("idle", "running"),
    "running": ("running", "requires_action", "idle"),
    "requires_action": ("requires_action", "running", "idle"),
}


def check(client: RawClient, requests: dict[Any, str]) -> None:
    """Hold every invariant against all frames; `requests` has the method of each of ours."""
    check_answers(client, requests)
    check_echoes(client, requests)
    sessions = {f["params"]["sessionId"] for f in client.frames if "update" in f.get("params", {})}
    for session_id in sessions:
        updates = [
            f["params"]["update"]
            for f in client.frames
            if f.get("method") == "session/update" and f["params"]["sessionId"] == session_id
        ]
        check_states(updates)
        check_tool_calls(updates)
        check_terminals(updates)
        check_background(updates)


def check_answers(client: RawClient, requests: dict[Any, str]) -> None:
    """Every request has exactly one answer."""
    answers = Counter(f["id"] for f in client.frames if "method" not in f)
    assert answers == Counter(dict.fromkeys(requests, 1))


def check_echoes(client: RawClient, requests: dict[Any, str]) -> None:
    """What was inserted is echoed once under the id of its result; the rest is not echoed."""
    inserted = [
        f["result"]["messageId"]
        for f in client.frames
        if "result" in f and requests.get(f["id"]) == "session/prompt"
    ]
    echoed = [update["messageId"] for update in client.updates("user_message")]
    assert sorted(inserted) == sorted(echoed)
    assert len(set(echoed)) == len(echoed)


def check_states(updates: list[Message]) -> None:
    """States follow each other as the table says; what works ends idle with a reason."""
    state = "idle"
    for update in updates:
        if update["sessionUpdate"] == "state_update":
            assert update["state"] in FOLLOWS[state]
            if state != "idle" and update["state"] == "idle":
                assert update["stopReason"]
            state = update["state"]
        elif update["sessionUpdate"] in ("agent_message", "tool_call_update"):
            assert state != "idle", "work is said while it runs"
    assert state == "idle"


def check_tool_calls(updates: list[Message]) -> None:
    """Statuses go forward only, every call ends, and no button outlives the end."""
    calls: dict[str, str] = {}
    buttons: set[str] = set()
    for update in updates:
        call_id = update.get("toolCallId")
        if update["sessionUpdate"] == "tool_call_update" and call_id is not None:
            before, after = calls.get(call_id), update.get("status")
            if before is None:
                assert update["title"]
                assert after == "pending"
            elif after is not None:
                assert before not in FINAL
                assert ORDER[after] >= ORDER[before]
            calls[call_id] = after or before or "pending"
            if "capabilities" in update:
                (buttons.add if update["capabilities"] else buttons.discard)(call_id)
    assert all(status in FINAL for status in calls.values())
    assert not buttons


def check_terminals(updates: list[Message]) -> None:
    """Announced with command and folder, ended once, silent from then on."""
    running: set[str] = set()
    seen: set[str] = set()
    for update in updates:
        terminal_id = update.get("terminalId", "")
        if update["sessionUpdate"] == "terminal_update":
            if terminal_id not in seen:
                assert update["command"]
                assert update["cwd"].startswith("/")
                seen.add(terminal_id)
                running.add(terminal_id)
            if "exitStatus" in update:
                running.remove(terminal_id)
        elif update["sessionUpdate"] == "terminal_output_chunk":
            assert terminal_id in running
    assert not running


def check_background(updates: list[Message]) -> None:
    """Reported once is reported always; what is listed was announced and has not ended."""
    running: set[str] = set()
    reported = False
    for update in updates:
        if update["sessionUpdate"] == "terminal_update":
            (running.discard if "exitStatus" in update else running.add)(update["terminalId"])
        elif update["sessionUpdate"] == "state_update":
            reported = reported or "background" in update
            assert ("background" in update) == reported
            listed = [one["terminalId"] for one in update.get("background", [])]
            assert len(set(listed)) == len(listed)
            assert set(listed) <= running
