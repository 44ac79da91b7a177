"""Config options of v2 for a v1 client; the option of category `mode` also becomes v1's modes.

A client that cannot show on and off gets a choice of two values, which is on and off again when
it is set.  An option of a type that v1 does not have is kept beside the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.translate.message import CannotTranslate, Json
from accord.translate.meta_store import OFFICIAL, is_valid, keep, kept, restore, take
from accord.translate.v2_agent.client_features import TranslationContext, copied

OPTIONS_KEPT: Final = 1024
ON_OFF: Final = {"true": True, "false": False}


class Options:
    """The options of one session.  Guards: which of them the client sees in another form."""

    def __init__(self, context: TranslationContext) -> None:
        self._context = context
        # The first select option of each category.
        self._by_category: dict[str, Json] = {}
        # The options as the client knows them, and whether others replace some that it
        # has under other names.
        self._shown: list[Json] = []
        self._are_made = False
        self._booleans: set[str] = set()
        self._mode: str | None = None

    # ---- from the agent

    def opened(self, result: Json) -> None:
        """Convert the options in the answer that opens a session, and add the modes."""
        # The modes and models of v1 before they became options.
        restore(result, {"modes": _are_modes, "models": _are_models})
        if "configOptions" in result:
            options = result["configOptions"] = self._list(result["configOptions"], result)
            modes = self._modes()
            if modes is not None:
                result.setdefault("modes", modes)
            if self._are_made and not options:
                del result["configOptions"]
        if result.get("modes") is not None:
            self._mode = result["modes"]["currentModeId"]

    def update(self, update: Json) -> Sequence[Json]:
        """Convert the current list of options."""
        before = self._shown
        update["configOptions"] = self._list(update["configOptions"], update)
        changes = self.mode_changes()
        if self._are_made and self._shown == before:
            # Only the mode has changed, which v1 reports in its own update.
            return changes
        return [*changes, update]

    def set(self, result: Json) -> Sequence[Json]:
        """Convert the answer to setting an option: the list, and the mode if it has changed."""
        result["configOptions"] = self._list(result["configOptions"], result)
        return self.mode_changes()

    def mode_changes(self) -> Sequence[Json]:
        """Return v1's update of the mode if it has changed."""
        modes = self._modes()
        mode = None if modes is None else modes["currentModeId"]
        if mode is None or self._mode in (None, mode):
            # The client does not know modes that were never listed.
            return ()
        self._mode = mode
        return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]

    # ---- from the client

    def to_set(self, params: Json) -> Json:
        """Convert `session/set_config_option` to v2.

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
        """Convert the request that sets a mode or a model to v2.

        Raises:
            CannotTranslate: the session has none.
        """
        option = self._by_category.get(category)
        if option is None:
            raise CannotTranslate(INVALID_PARAMS, f"the session has no {category} to set")
        value = params.pop(name)
        return {**params, "configId": option["configId"], "type": "id", "value": value}

    def mode_is(self, mode: str) -> None:
        """Note the mode that the client has set."""
        self._mode = mode

    # ---- inside

    def _list(self, options: Sequence[Json], holder: Json) -> list[Json]:
        self._by_category.clear()
        self._booleans.clear()
        self._are_made = False
        said: list[Json] = []
        dropped: list[Json] = []
        for option in options[:OPTIONS_KEPT]:
            kind = option["type"]
            if kind == "select":
                self._select(option, said)
            elif kind == "boolean":
                said.append(self._boolean(option))
            else:
                dropped.append(option)
        if dropped:
            self._context.lose(holder, "configOptions", dropped, "config option")
        else:
            self._restore(holder, said)
        self._shown = copied(said)
        return said

    def _restore(self, holder: Json, said: list[Json]) -> None:
        """Restore select options without values, which only v1 allows."""
        dropped = kept(holder, OFFICIAL).get("configOptions")
        if isinstance(dropped, list) and dropped and all(map(_is_choice, dropped)):
            left = take(holder, OFFICIAL)
            said += left.pop("configOptions")
            for name, value in left.items():
                keep(holder, OFFICIAL, name, value)

    def _select(self, option: Json, said: list[Json]) -> None:
        category = option.get("category")
        for entry in option["options"]:
            if "groupId" in entry:
                entry["group"] = entry.pop("groupId")
        if isinstance(category, str):
            self._by_category.setdefault(category, copied(option))
        if kept(option, OFFICIAL).get("made") is True:
            # The option stands for v1's modes or models, which the client has.
            self._are_made = True
        else:
            said.append(_renamed(option))

    def _boolean(self, option: Json) -> Json:
        said = _renamed(option)
        if not self._context.features.booleans:
            self._booleans.add(said["id"])
            said["type"] = "select"
            said["currentValue"] = "true" if said["currentValue"] else "false"
            said["options"] = [{"value": "true", "name": "On"}, {"value": "false", "name": "Off"}]
            keep(said, OFFICIAL, "type", "boolean")
        return said

    def _modes(self) -> Json | None:
        option = self._by_category.get("mode")
        if option is None:
            return None
        return {
            "currentModeId": option["currentValue"],
            "availableModes": [_mode(value) for value in _values(option["options"])],
        }


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


def _are_modes(value: Any) -> bool:
    from accord.schema import v1

    return is_valid(v1.SessionModeState, value)


def _are_models(value: Any) -> bool:
    from accord.schema import v1

    return is_valid(v1.SessionModelState, value)


def _is_choice(value: Any) -> bool:
    from accord.schema import v1

    return isinstance(value, dict) and is_valid(v1.SessionConfigSelect, value)
