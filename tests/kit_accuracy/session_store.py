"""Sessions on disk, so that another process of the same agent can take them up."""

from __future__ import annotations

import json
import os
import time
from typing import Any

Json = dict[str, Any]


def folder() -> str:
    path = os.path.join(os.path.expanduser("~"), ".stranger-agent")
    os.makedirs(path, exist_ok=True)
    return path


def save(session_id: str, record: Json) -> None:
    path = os.path.join(folder(), session_id + ".json")
    record["updatedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with open(path + ".new", "w", encoding="utf-8", errors="replace") as file:
        json.dump(record, file)
    os.replace(path + ".new", path)


def load(session_id: str) -> Json | None:
    if not session_id.replace("-", "").isalnum():
        return None
    try:
        with open(os.path.join(folder(), session_id + ".json"), encoding="utf-8") as file:
            record: Json = json.load(file)
            return record
    except (OSError, ValueError):
        return None


def delete(session_id: str) -> None:
    if load(session_id) is not None:
        os.remove(os.path.join(folder(), session_id + ".json"))


def listed() -> list[tuple[str, Json]]:
    """All sessions, in a fixed order."""
    names = sorted(name[:-5] for name in os.listdir(folder()) if name.endswith(".json"))
    found = [(name, load(name)) for name in names]
    return [(name, record) for name, record in found if record is not None]
