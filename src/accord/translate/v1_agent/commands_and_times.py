"""Commands and times of the agent in v2's form."""

from __future__ import annotations

import re
from typing import Any, Final

from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, is_text, keep, restore, taken

RFC_3339: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?)?\s*([Zz]|[+-]\d\d(?::?\d\d)?)?"
)


def commands_to_v2(holder: Json) -> list[Json]:
    """The commands that an update lists, which is left without them; what is dropped it keeps."""
    found: dict[str, Json] = {}
    dropped: list[Json] = []
    for command in holder.pop("availableCommands"):
        name: str = command["name"]
        plain = name.removeprefix("/")
        if not plain or plain in found or any(char.isspace() for char in plain):
            dropped.append(command)
            continue
        found[plain] = _command_to_v2(command, plain)
    if dropped:
        keep(holder, OFFICIAL, "availableCommands", dropped)
    return list(found.values())


def _command_to_v2(command: Json, plain: str) -> Json:
    if "_meta" in command:
        other = taken(command, "raw", _is_other)
        if other is not None and other["name"] == plain:
            return {**other}
        restore(command, {"input": lambda value: isinstance(value, dict) and _is_tagged(value)})
    if plain != command["name"]:
        keep(command, OFFICIAL, "name", command["name"])
    said: Json = {"type": "command", **command, "name": plain}
    if said.get("input") is not None:
        said["input"] = {"type": "text", **said["input"]}
    return said


def _is_tagged(value: Json) -> bool:
    """Of a type that v1 does not have."""
    return is_text(value.get("type")) and value["type"] not in ("command", "text")


def _is_other(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_tagged(value):
        return False
    return is_text(value.get("name")) and is_text(value.get("description"))


def time_to_v2(holder: Json) -> None:
    """`updatedAt` as RFC 3339; what is not a time is kept and left out."""
    said: Any = holder.get("updatedAt")
    if not isinstance(said, str):
        return
    read = RFC_3339.fullmatch(said.strip())
    if read is None:
        keep(holder, OFFICIAL, "updatedAt", holder.pop("updatedAt"))
        return
    day, minutes, seconds, zone = read.groups()
    zone = (zone or "Z").upper()
    if len(zone) == 3:
        zone += ":00"
    elif len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    time = f"{minutes or '00:00'}{(seconds or ':00').replace(',', '.')}"
    written = f"{day}T{time}{zone}"
    if written != said:
        holder["updatedAt"] = written
        keep(holder, OFFICIAL, "updatedAt", said)
