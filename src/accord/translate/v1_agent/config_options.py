"""Modes, models and config options of a v1 agent as config options of v2.

v1 has modes beside options, and some agents have models beside both; v2 has options only.  Where
the agent offers no option of that category, one is made up of its modes or models, and setting it
calls the method that they have.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.translate.adapter import Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Request,
    Result,
)
from accord.translate.meta_store import OFFICIAL, is_text, keep, taken
from accord.translate.v1_agent.session_state import Core, Session

# Where options are made up from: the category, and of v1's object the current value, the list and
# the id of its entries; then the name of the option, and how it is set.
MODE: Final = "mode"
MODEL: Final = "model"
CURRENT: Final = {MODE: "currentModeId", MODEL: "currentModelId"}
LISTED: Final = {MODE: "availableModes", MODEL: "availableModels"}
ENTRY: Final = {MODE: "id", MODEL: "modelId"}
NAMES: Final = {MODE: "Mode", MODEL: "Model"}
SETTERS: Final = {MODE: ("session/set_mode", "modeId"), MODEL: ("session/set_model", "modelId")}


class Options:
    """The options of each session."""

    def __init__(self, core: Core) -> None:
        self._core = core
        core.on_request[CLIENT, "session/set_config_option"] = self._set

    # ---- what the agent tells

    def opened(self, session: Session, result: Json) -> None:
        """Convert the options in the answer that opens a session to v2, in place."""
        for name in ("modes", "models"):
            state = result.pop(name, None)
            if state is not None:
                setattr(session, name, deepcopy(state))
                keep(result, OFFICIAL, name, state)
        said = result.pop("configOptions", None)
        if said is not None:
            self._take(session, said, result)
        if said is not None or session.modes is not None or session.models is not None:
            self.tell(session, result)

    def updated(self, session: Session, update: Json) -> None:
        self._take(session, update.pop("configOptions"), update)
        self.tell(session, update)

    def mode_changed(self, session: Session, update: Json) -> Json | None:
        """Convert `current_mode_update` to an update of the options; None if none changes."""
        mode_id = update.pop("currentModeId")
        before = None
        if session.modes is not None:
            before, session.modes["currentModeId"] = session.modes["currentModeId"], mode_id
        listed = _choice_of(session.options, MODE)
        if listed is not None:
            if listed["currentValue"] == mode_id or mode_id not in _values(listed):
                # The agent reports its own option automatically.
                return None
            listed["currentValue"] = mode_id
        elif session.modes is None:
            self._core.lost("current_mode_update")
            return None
        elif before == mode_id:
            return None
        update["sessionUpdate"] = "config_option_update"
        self.tell(session, update)
        return update

    def tell(self, session: Session, holder: Json) -> None:
        """Add all options to a message; those that v2 cannot list are kept in its metadata."""
        holder["configOptions"] = self.of(session)
        if session.unlisted:
            keep(holder, OFFICIAL, "configOptions", deepcopy(session.unlisted))

    def of(self, session: Session) -> list[Json]:
        """Return all options, including those made from modes and models."""
        options = deepcopy(session.options)
        for category in (MODE, MODEL):
            made = self._made(session, category)
            if made is not None:
                options.append(made)
        return options

    def _take(self, session: Session, said: list[Json], holder: Json) -> None:
        session.unlisted = [option for option in said if not _has_values(option)]
        session.options = [_to_v2(option) for option in said if _has_values(option)]
        session.options += taken(holder, "configOptions", _are_others) or []

    # ---- what is made up

    def _state(self, session: Session, category: str) -> Json | None:
        """Return the modes or models that an option is made from; None if none is needed."""
        state = session.modes if category == MODE else session.models
        return None if _choice_of(session.options, category) is not None else state

    def _made(self, session: Session, category: str) -> Json | None:
        state = self._state(session, category)
        if state is None:
            return None
        values = [_value(entry, ENTRY[category]) for entry in state[LISTED[category]]]
        current: str = state[CURRENT[category]]
        if not any(value["value"] == current for value in values):
            values.append({"value": current, "name": current})
        made: Json = {
            "configId": self._config_id(session, category),
            "name": NAMES[category],
            "type": "select",
            "category": category,
            "currentValue": current,
            "options": values,
        }
        # An adapter back to v1 restores the modes or models themselves.
        keep(made, OFFICIAL, "made", True)
        return made

    def _config_id(self, session: Session, category: str) -> str:
        taken = {option["configId"] for option in session.options}
        config_id = category
        while config_id in taken:
            config_id += "_"
        return config_id

    # ---- setting

    def _set(self, request: Request) -> Outs:
        params = request.params
        session = self._core.open_session(params["sessionId"])
        kind = params["type"]
        if kind not in ("id", "boolean"):
            raise CannotTranslate(
                INVALID_PARAMS, f"no option takes a value of type {kind}", {"type": kind}
            )
        for category in (MODE, MODEL):
            is_made = self._state(session, category) is not None
            if is_made and params["configId"] == self._config_id(session, category):
                return self._set_made(session, request, category)
        if kind == "id":
            del params["type"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._core.fail(request.key, answer, session.id)]
            result: Json = answer.result
            self.updated(session, result)
            return [(CLIENT, Result(request.key, result))]

        return [self._core.ask(AGENT, request.method, params, then, instead_of=request, of=CLIENT)]

    def _set_made(self, session: Session, request: Request, category: str) -> Outs:
        params = request.params
        value: Any = params.pop("value")
        state = self._state(session, category)
        made = self._made(session, category)
        assert state is not None
        assert made is not None
        if params.pop("type") != "id" or value not in _values(made):
            raise CannotTranslate(
                INVALID_PARAMS, f"{value} is not a value of this option", {"value": value}
            )
        del params["configId"]
        method, name = SETTERS[category]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._core.fail(request.key, answer, session.id)]
            state[CURRENT[category]] = value
            result: Json = answer.result
            self.tell(session, result)
            return [(CLIENT, Result(request.key, result))]

        asked = {**params, name: value}
        return [self._core.ask(AGENT, method, asked, then, instead_of=request, of=CLIENT)]


def _choice_of(options: list[Json], category: str) -> Json | None:
    """The first choice of a category."""
    for option in options:
        if option["type"] == "select" and option.get("category") == category:
            return option
    return None


def _has_values(option: Json) -> bool:
    """Whether v2 can show an option: a choice without values is not valid there."""
    if option["type"] != "select":
        return True
    entries: list[Json] = option["options"]
    if any("group" in entry for entry in entries):
        return all(entry.get("options") for entry in entries)
    return bool(entries)


def _are_others(value: Any) -> bool:
    """Whether these are options of types that v1 does not have, kept beside the list."""
    return isinstance(value, list) and all(map(_is_other, value))


def _is_other(option: Any) -> bool:
    if not isinstance(option, dict) or option.get("type") in ("select", "boolean"):
        return False
    return all(is_text(option.get(name)) for name in ("type", "configId", "name"))


def _to_v2(option: Json) -> Json:
    said: Json = {"configId": option.pop("id"), **option}
    if said["type"] == "select":
        said["options"] = [_entry_to_v2(entry) for entry in said["options"]]
    return said


def _entry_to_v2(entry: Json) -> Json:
    return {"groupId": entry.pop("group"), **entry} if "group" in entry else entry


def _value(entry: Json, name: str) -> Json:
    entry = deepcopy(entry)
    return {"value": entry.pop(name), **entry}


def _values(option: Json) -> list[str]:
    """Return the values of a choice, including those in groups."""
    found: list[str] = []
    for entry in option.get("options", ()):
        if "groupId" in entry:
            found += [member["value"] for member in entry["options"]]
        else:
            found.append(entry["value"])
    return found
