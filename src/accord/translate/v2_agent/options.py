"""Config options: v2's names in v1's, the option of category `mode` also as v1's modes.

A client that cannot show on and off gets a choice of two values, which is on and off again when
it is set.  An option of a type that v1 does not have is kept beside the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accord.jsonrpc.codes import INVALID_PARAMS
from accord.translate.keeping import OFFICIAL, keep
from accord.translate.message import CannotTranslate, Json
from accord.translate.v2_agent.voice import Voice, copied

OPTIONS_KEPT: Final = 1024
ON_OFF: Final = {"true": True, "false": False}


class Options:
    """The options of one session; guards which of them the client sees in another form."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        # By category, the first option that has it and is a choice.
        self._by_category: dict[str, str] = {}
        self._booleans: set[str] = set()
        self._mode: str | None = None

    # ---- from the agent

    def opened(self, result: Json) -> None:
        """The options in the answer that opens a session, and the modes beside them."""
        if "configOptions" not in result:
            return
        options: list[Json] = result["configOptions"]
        result["configOptions"] = self._list(options, result)
        modes = self._modes(result["configOptions"])
        if modes is not None:
            result["modes"] = modes
            self._mode = modes["currentModeId"]

    def update(self, update: Json) -> Sequence[Json]:
        """All options as they are now."""
        update["configOptions"] = self._list(update["configOptions"], update)
        return [*self.mode_changes(update["configOptions"]), update]

    def set(self, result: Json) -> Sequence[Json]:
        """The answer to setting one: the list, and the mode if it changed by that."""
        result["configOptions"] = self._list(result["configOptions"], result)
        return self.mode_changes(result["configOptions"])

    def mode_changes(self, options: Sequence[Json]) -> Sequence[Json]:
        """The new mode as v1 tells it, if there is one."""
        modes = self._modes(options)
        mode = None if modes is None else modes["currentModeId"]
        if mode is None or mode == self._mode:
            return ()
        self._mode = mode
        return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]

    # ---- from the client

    def to_set(self, params: Json) -> Json:
        """`session/set_config_option` in v2's form.

        Raises:
            CannotTranslate: a value for on and off that is neither.
        """
        value = params["value"]
        if isinstance(value, bool):
            params["type"] = "boolean"
        elif params["configId"] in self._booleans:
            if value not in ON_OFF:
                raise CannotTranslate(INVALID_PARAMS, "`value` is neither `true` nor `false`")
            params["type"], params["value"] = "boolean", ON_OFF[value]
        else:
            params["type"] = "id"
        return params

    def to_choose(self, params: Json, category: str, name: str) -> Json:
        """Setting a mode or a model, as v2 does it.

        Raises:
            CannotTranslate: the session has none.
        """
        config_id = self._by_category.get(category)
        if config_id is None:
            raise CannotTranslate(INVALID_PARAMS, f"the session has no {category} to set")
        value = params.pop(name)
        return {**params, "configId": config_id, "type": "id", "value": value}

    def mode_is(self, mode: str) -> None:
        """The client knows the mode: it has set it."""
        self._mode = mode

    # ---- inside

    def _list(self, options: Sequence[Json], holder: Json) -> list[Json]:
        self._by_category.clear()
        self._booleans.clear()
        said: list[Json] = []
        dropped: list[Json] = []
        for option in options[:OPTIONS_KEPT]:
            kind = option["type"]
            if kind == "select":
                said.append(self._select(option))
            elif kind == "boolean":
                said.append(self._boolean(option))
            else:
                dropped.append(option)
        if dropped:
            self._voice.lose(holder, "configOptions", dropped, "config option")
        return said

    def _select(self, option: Json) -> Json:
        config_id = option["configId"]
        category = option.get("category")
        if isinstance(category, str):
            self._by_category.setdefault(category, config_id)
        for entry in option["options"]:
            if "groupId" in entry:
                entry["group"] = entry.pop("groupId")
        return _renamed(option)

    def _boolean(self, option: Json) -> Json:
        said = _renamed(option)
        if not self._voice.features.booleans:
            self._booleans.add(said["id"])
            said["type"] = "select"
            said["currentValue"] = "true" if said["currentValue"] else "false"
            said["options"] = [{"value": "true", "name": "On"}, {"value": "false", "name": "Off"}]
            keep(said, OFFICIAL, "type", "boolean")
        return said

    def _modes(self, options: Sequence[Json]) -> Json | None:
        config_id = self._by_category.get("mode")
        for option in options:
            if option["id"] == config_id:
                return {
                    "currentModeId": option["currentValue"],
                    "availableModes": [_mode(value) for value in _values(option["options"])],
                }
        return None


def _renamed(option: Json) -> Json:
    option["id"] = option.pop("configId")
    return option


def _values(entries: Sequence[Json]) -> list[Json]:
    return [
        value for entry in entries for value in (entry["options"] if "group" in entry else (entry,))
    ]


def _mode(value: Json) -> Json:
    mode: dict[str, Any] = {"id": value["value"], "name": value["name"]}
    for name in ("description", "_meta"):
        if name in value:
            mode[name] = copied(value[name])
    return mode


__all__ = ["Options"]
