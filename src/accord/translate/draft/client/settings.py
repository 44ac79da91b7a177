"""Modes and options of a v1 agent for a draft client, and the update after each change.

The draft announces every change, also one that the client asked for; v1 need not.  So a change
that was asked for is told here, once, after the answer, and what the agent says of it meanwhile
or right after is that same word.
"""

from __future__ import annotations

from typing import Any

from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge, invalid
from accord.translate.draft.client.session_memory import Session, State, mode_option_of
from accord.translate.draft.client.tool_calls import told
from accord.translate.draft.conversion.config_options import (
    changes,
    find,
    meant_option,
    setting_for,
    value_of,
)
from accord.translate.draft.conversion.meta_restore import copied, keep_all, taken
from accord.translate.draft.error_codes import DRAFT_CAPABILITY_NOT_SUPPORTED
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Out,
    Request,
    Result,
)

USER, ITSELF = "user", "agent"


class Settings:
    """Sets modes and options, and reports what has changed."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        bridge.on_request[CLIENT, "session/set_mode"] = self._set_mode
        bridge.on_request[CLIENT, "session/set_config_option"] = self._set_option

    # ---- modes

    def mode_request(self, session: Session, mode: str) -> tuple[str, Json] | None:
        """Return the request that sets a mode; None if the agent has no modes."""
        official = session.names.official(mode)
        if session.modes:
            return "session/set_mode", {"sessionId": session.id, "modeId": official}
        option = session.mode_option
        if option is None:
            return None
        asked = {"sessionId": session.id, "configId": option["id"], "value": official}
        return "session/set_config_option", asked

    def mode_is(self, session: Session, mode: str, answer: Json) -> None:
        """Note that the agent has accepted the requested mode."""
        session.mode = mode
        # Only the answer to an option has options that were checked; see `mode_request`.
        if not session.modes and "configOptions" in answer:
            session.options = answer["configOptions"]

    def _set_mode(self, request: Request) -> Outs:
        params = dict(request.params)
        session = self._state.session(params["sessionId"])
        mode = session.names.meant(params.pop("mode"))
        asking = self.mode_request(session, mode)
        if asking is None and session.folder is None:
            # The session was not opened here: the agent decides.
            asking = "session/set_mode", {"sessionId": session.id, "modeId": mode}
        if asking is None:
            raise CannotTranslate(DRAFT_CAPABILITY_NOT_SUPPORTED, "the session has no modes")
        method, asked = asking
        before = session.mode
        session.wanted_mode, session.told_mode, session.mode_options = mode, None, None

        def then(answer: Answer) -> Outs:
            said, session.told_mode = session.told_mode, None
            session.wanted_mode = None
            if isinstance(answer, Failure):
                outs = [self._bridge.fail(CLIENT, request.key, answer, session.id)]
                return [*outs, *self._tell_mode(session, said)]
            result = {
                name: value for name, value in answer.result.items() if name != "configOptions"
            }
            result.update(previousMode=before, currentMode=mode)
            keep_all(result, {"made": True})
            outs = [(CLIENT, Result(request.key, result))]
            if said is None and mode != before:
                said = {"previousMode": before, "currentMode": mode}
                keep_all(said, {"made": True})
                session.echo_mode = mode
            outs += self._tell_mode(session, said)
            self.mode_is(session, mode, answer.result)
            return outs

        ask = self._bridge.ask
        full = {**params, **asked}
        return [ask(AGENT, method, full, then, instead_of=request, of=CLIENT)]

    def _tell_mode(self, session: Session, said: Json | None) -> list[Out]:
        """Return the update of a mode that has changed, and of the options that came with it.

        The option that is the mode has not changed besides: it is the same change.
        """
        by_options, session.mode_options = session.mode_options, None
        word = [] if said is None else [told(session, _MODE, said)]
        if by_options is None:
            return word
        key, options = by_options
        updates = self._tell(session, options, ITSELF, unsaid=None if said is None else key)
        if said is not None and not updates:
            keep_all(said, {"configOptions": copied(options)})
        return [*word, *updates]

    def mode_update(self, session: Session, update: Json) -> list[tuple[str, Json]]:
        """Take an update of the mode."""
        made = dict(update)
        del made["sessionUpdate"]
        had = taken(made)
        mode = session.names.draft(made.pop("currentModeId"))
        before, session.mode = session.mode, mode
        previous, reason = had.pop("previousMode", None), had.pop("reason", None)
        made.update(previousMode=before, currentMode=mode)
        if isinstance(previous, str):
            made["previousMode"] = previous
        else:
            had["made"] = ["previousMode"]
        if isinstance(reason, str):
            made["reason"] = reason
        keep_all(made, had)
        if session.wanted_mode == mode:
            session.told_mode = made
            return []
        echo, session.echo_mode = session.echo_mode, None
        return [] if echo == mode else [(_MODE, made)]

    # ---- options

    def option_request(self, session: Session, key: str, value: Any) -> Json:
        """Return the request that sets an option.

        Raises:
            CannotTranslate: there is no such option, or it has no such value.
        """
        option = find(session.options, key)
        if option is None or option is session.mode_option:
            raise invalid(f"the session has no option {key!r}", key=key)
        setting = setting_for(option, value)
        if setting is None and self._bridge.details and type(value) is int:
            # Our own agent may accept numbers that it does not list, and refuses others.
            setting = {"value": str(value)}
        if setting is None:
            raise invalid(f"the option {key!r} does not offer this value", key=key)
        return {"sessionId": session.id, "configId": key, **setting}

    def _set_option(self, request: Request) -> Outs:
        params = dict(request.params)
        session = self._state.session(params["sessionId"])
        key, value = params.pop("key"), params.pop("value")
        if session.folder is None:
            return self._set_unknown(request, session, params, key, value)
        key = meant_option([one["id"] for one in session.options], key)
        asked = {**params, **self.option_request(session, key, value)}
        option = find(session.options, key)
        assert option is not None
        before = value_of(option)
        session.setting += 1

        def then(answer: Answer) -> Outs:
            session.setting -= 1
            said, session.told_options = session.told_options, None
            if isinstance(answer, Failure):
                outs = [self._bridge.fail(CLIENT, request.key, answer, session.id)]
                return [*outs, *(self._tell(session, said, ITSELF) if said is not None else ())]
            result = dict(answer.result)
            options = result.pop("configOptions")
            now = find(options, key)
            current = value if now is None else value_of(now)
            result.update(key=key, previousValue=before, currentValue=current)
            keep_all(result, {"configOptions": copied(options)})
            updates = self._tell(session, options, USER, made=said is None, first=key)
            return [(CLIENT, Result(request.key, result)), *updates]

        ask = self._bridge.ask
        return [ask(AGENT, "session/set_config_option", asked, then, instead_of=request, of=CLIENT)]

    def _set_unknown(
        self, request: Request, session: Session, params: Json, key: str, value: Any
    ) -> Outs:
        """Set an option of a session that was not opened here: the agent decides."""

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer, session.id)]
            return [(CLIENT, Result(request.key, {"key": key, "currentValue": value}))]

        is_switch = isinstance(value, bool)
        setting = {"value": value, "type": "boolean"} if is_switch else {"value": str(value)}
        asked = {**params, "configId": key, **setting}
        ask = self._bridge.ask
        return [ask(AGENT, "session/set_config_option", asked, then, instead_of=request, of=CLIENT)]

    def _tell(
        self,
        session: Session,
        options: list[Json],
        source: str,
        *,
        made: bool = False,
        first: str = "",
        unsaid: str | None = None,
    ) -> list[Out]:
        updates = self.options_are(session, options, source, first, unsaid)
        if made:
            for _, data in updates:
                keep_all(data, {"made": True})
        return [told(session, kind, data) for kind, data in updates]

    def options_are(
        self,
        session: Session,
        options: list[Json],
        source: str,
        first: str = "",
        unsaid: str | None = None,
    ) -> list[tuple[str, Json]]:
        """Return one update for each option that has changed; the requested one is first.

        `unsaid` is one that has been told of in another way.
        """
        updates: list[tuple[str, Json]] = []
        mode = mode_option_of(options)
        told = {unsaid}
        if self._bridge.details and mode is not None:
            # Our own agent reports its mode in both ways.
            told.add(mode["id"])
        found = [one for one in changes(session.options, options) if one.key not in told]
        for change in sorted(found, key=lambda one: one.key != first):
            data: Json = {"key": change.key, "currentValue": change.after, "source": source}
            if change.had_value:
                data["previousValue"] = change.before
            keep_all(data, {"made": True} if updates else {"configOptions": copied(options)})
            updates.append((_OPTION, data))
        session.options = options
        return updates

    def options_update(self, session: Session, update: Json) -> list[tuple[str, Json]]:
        """Take an update of the options."""
        options = update["configOptions"]
        if session.setting:
            session.told_options = options
            return []
        if session.wanted_mode is not None and (key := _mode_key(session, options)) is not None:
            session.mode_options = key, options
            return []
        # They replace the update of the mode that the client requested.
        session.mode_options = None
        rest = {
            name: value
            for name, value in update.items()
            if name not in ("sessionUpdate", "configOptions")
        }
        had = taken(rest)
        updates = self.options_are(session, options, ITSELF)
        for _, data in updates:
            data.update((name, value) for name, value in rest.items() if name not in data)
            if had.get("key") == data["key"]:
                _as_told(data, had)
        return updates


def _mode_key(session: Session, options: list[Json]) -> str | None:
    """Return the option that reports the mode that the client requested."""
    option = mode_option_of(options)
    if option is None or session.names.draft(option["currentValue"]) != session.wanted_mode:
        return None
    key: str = option["id"]
    return key


def _as_told(data: Json, had: Json) -> None:
    """Keep the source of a change that a draft agent behind the bridge named."""
    if isinstance(had.get("source"), str):
        data["source"] = had["source"]


_MODE = "current_mode_update"
_OPTION = "config_option_update"
