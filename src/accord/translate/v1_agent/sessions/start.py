"""Opens sessions: new ones, forks, and stored ones with or without their history.

v2 takes listing, resuming and replaying for granted.  What the agent lacks is made up from the
table of sessions and, where it cannot load them, from their logs; `session_state.py` says how
much of both is kept.
"""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import NOTHING, Outs
from accord.translate.content_blocks import prompted_block_to_v1
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Notification,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import OFFICIAL, keep
from accord.translate.v1_agent.config_options import Options
from accord.translate.v1_agent.session_replay import Replay
from accord.translate.v1_agent.session_state import Abilities, Core, Past, Session, not_found
from accord.translate.v1_agent.updates import Updates, commands_to_v2, time_to_v2

# Updates of sessions whose ids the client does not know yet.
EARLY_UPDATES_MAX: Final = 1024
# How long the answer to `session/resume` waits for the commands that belong in it.
ANSWERED_AFTER: Final = 0.2
# The required keys of an MCP server in v1, by its type.
SERVER_LISTS: Final[dict[str, tuple[str, ...]]] = {
    "stdio": ("args", "env"),
    "http": ("headers",),
    "acp": (),
}


class SessionStarts:
    """New, forked and resumed sessions, and the list of them."""

    def __init__(self, core: Core, options: Options, updates: Updates) -> None:
        self._core = core
        self._options = options
        self._updates = updates
        self._unnamed = 0
        self._early: list[Json] = []
        core.on_unknown = self._unknown
        core.on_request[CLIENT, "session/new"] = self._new
        core.on_request[CLIENT, "session/fork"] = self._new
        core.on_request[CLIENT, "session/resume"] = self._resume
        core.on_request[CLIENT, "session/list"] = self._list

    # ---- new sessions

    def _new(self, request: Request) -> Outs:
        params = request.params
        self._complete(params)
        cwd, roots = params["cwd"], list(params.get("additionalDirectories") or [])
        source_id: str | None = params.get("sessionId")
        self._unnamed += 1

        def then(answer: Answer) -> Outs:
            self._unnamed -= 1
            if isinstance(answer, Failure):
                self._forget_early()
                return [self._core.fail(request.key, answer, source_id)]
            result: Json = answer.result
            source = self._core.sessions.get(source_id or "")
            is_known = source_id is None
            session = self._core.new_session(result["sessionId"], cwd, roots, is_known=is_known)
            if source is not None and source.log is not None:
                session.log = source.log.copy()
            return self._announce(session, request, result)

        return [self._core.ask(AGENT, request.method, params, then, instead_of=request, of=CLIENT)]

    def _announce(self, session: Session, request: Request, result: Json) -> Outs:
        early = [one for one in self._early if one["sessionId"] == session.id]
        self._early = [one for one in self._early if one["sessionId"] != session.id]
        self._forget_early()
        self._opened(session, result)
        later: list[Json] = []
        for params in early:
            update: Json = params["update"]
            if update["sessionUpdate"] == "available_commands_update":
                result["availableCommands"] = commands_to_v2(update)
                session.remember_commands(result["availableCommands"])
            else:
                later.append(params)
        outs: list[Out] = [(CLIENT, Result(request.key, result))]
        for params in later:
            outs += self._updates.receive(params)
        return outs

    def _unknown(self, params: Json) -> Outs:
        """Keep an update of a session that is not announced yet, or drop it."""
        if not self._unnamed:
            self._core.around.log("an update of a session that is not open is dropped")
            self._core.lost("update of an unknown session")
            return NOTHING
        self._early.append(params)
        if len(self._early) > EARLY_UPDATES_MAX:
            del self._early[0]
            self._core.lost("early update")
        return NOTHING

    def _forget_early(self) -> None:
        if not self._unnamed:
            self._early.clear()

    # ---- old sessions

    def _resume(self, request: Request) -> Outs:
        params = request.params
        wants_past = _wants_past(params.pop("replayFrom", None))
        self._complete(params)
        core, can = self._core, self._core.can
        session = core.sessions.get(params["sessionId"])
        if session is not None and session.closing:
            raise not_found(session.id)
        if wants_past and can.load:
            return self._ask(request, "session/load", Past.SHOWN)
        if wants_past and (session is None or session.log is None):
            if session is None and not can.resume:
                raise not_found(params["sessionId"])
            raise CannotTranslate(
                INVALID_PARAMS, "the history of this session is unknown", {"replayFrom": "start"}
            )
        is_busy = session is not None and session.turn is not None
        if can.resume and not is_busy:
            return self._ask(request, "session/resume", Past.SHOWN, wants_past=wants_past)
        if can.load and not is_busy:
            return self._ask(request, "session/load", Past.SUPPRESSED)
        if session is None or not session.alive or session.child:
            raise not_found(params["sessionId"])
        result: Json = {}
        if session.options or session.modes is not None or session.models is not None:
            self._options.tell(session, result)
        return self._resumed(session, request, result, wants_past=wants_past)

    def _ask(self, request: Request, method: str, past: Past, *, wants_past: bool = False) -> Outs:
        core, params = self._core, request.params
        session = core.sessions.get(params["sessionId"])
        is_new = session is None
        cwd, roots = params["cwd"], list(params.get("additionalDirectories") or [])
        if session is None:
            session = core.new_session(params["sessionId"], cwd, roots)
            session.open = session.alive = False
        else:
            session.cwd, session.roots = cwd, roots
        session.begin_past(past)
        opened = session

        def then(answer: Answer) -> Outs:
            # Only `session/load` replays the history.
            is_whole = isinstance(answer, Result) and method == "session/load"
            rest = [_about(opened, one) for one in opened.end_past(is_whole=is_whole)]
            if isinstance(answer, Failure):
                if is_new:
                    core.sessions.pop(opened.id, None)
                return [core.fail(request.key, answer, opened.id)]
            opened.alive = opened.open = True
            result: Json = answer.result
            self._opened(opened, result)
            return [*rest, *self._soon(opened, request, result, wants_past=wants_past)]

        return [core.ask(AGENT, method, params, then, instead_of=request, of=CLIENT)]

    def _soon(self, session: Session, request: Request, result: Json, *, wants_past: bool) -> Outs:
        """Answer once the agent has listed its commands, which many do right after their answer."""
        core = self._core

        def answer() -> Outs:
            session.answering = None
            core.never(session, "answer")
            return self._resumed(session, request, result, wants_past=wants_past)

        if session.answering is not None:
            # The session was resumed again meanwhile.
            return [*session.answering(), *answer()]
        if session.commands_told:
            return answer()
        session.answering = answer
        core.later(session, "answer", ANSWERED_AFTER, answer)
        return NOTHING

    def _resumed(
        self, session: Session, request: Request, result: Json, *, wants_past: bool
    ) -> Outs:
        session.open = True
        commands = session.told_commands
        if commands is not None:
            result["availableCommands"] = commands
        outs: list[Out] = []
        if wants_past and session.log is not None:
            replay = Replay(session.prompts, session.messages)
            for update in session.log.replay():
                outs += [_about(session, one) for one in replay.whole(update)]
        outs.append(_about(session, {"sessionUpdate": "state_update", **session.snapshot}))
        return [*outs, (CLIENT, Result(request.key, result))]

    # ---- both

    def _complete(self, params: Json) -> None:
        """Complete the keys that v1 requires, and remove those that it lacks."""
        params["mcpServers"] = servers_to_v1(params.get("mcpServers"), self._core.can)
        system: Any = params.get("systemPrompt")
        if system is not None:
            for block in system["content"]:
                prompted_block_to_v1(block, self._core.lost)

    def _opened(self, session: Session, result: Json) -> None:
        if "availableCommands" in result:
            # A v1 agent cannot mean the same by it as v2.
            keep(result, OFFICIAL, "availableCommands", result.pop("availableCommands"))
        self._options.opened(session, result)

    # ---- the list

    def _list(self, request: Request) -> Outs:
        if not self._core.can.list:
            return [(CLIENT, Result(request.key, {"sessions": self._known(request.params)}))]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                for info in answer.result["sessions"]:
                    time_to_v2(info)
            return [self._core.answer(CLIENT, request.key, answer)]

        return [
            self._core.ask(
                AGENT, request.method, request.params, then, instead_of=request, of=CLIENT
            )
        ]

    def _known(self, params: Json) -> list[Json]:
        if params.get("cursor") is not None:
            raise CannotTranslate(INVALID_PARAMS, "no such cursor", {"cursor": params["cursor"]})
        cwd = params.get("cwd")
        found: list[Json] = []
        for session in reversed(self._core.sessions.values()):
            if session.child or session.past is not None or cwd not in (None, session.cwd):
                continue
            info: Json = {
                "sessionId": session.id,
                "cwd": session.cwd,
                "updatedAt": session.stamp,
            }
            if session.roots:
                info["additionalDirectories"] = list(session.roots)
            if session.title is not None:
                info["title"] = session.title
            found.append(info)
        return found


def _wants_past(replay_from: Any) -> bool:
    if replay_from is None:
        return False
    if replay_from.get("type") != "start":
        raise CannotTranslate(
            INVALID_PARAMS,
            "a session can be replayed only from its start",
            {"replayFrom": replay_from},
        )
    return True


def _about(session: Session, update: Json) -> Out:
    return CLIENT, Notification(SESSION_UPDATE, {"sessionId": session.id, "update": update})


def servers_to_v1(servers: list[Json] | None, can: Abilities) -> list[Json]:
    """Convert the MCP servers of a session to v1, in place.

    Raises:
        CannotTranslate: the agent cannot reach one of them, or two have the same name.
    """
    names: set[str] = set()
    for server in servers or ():
        kind: Any = server.get("type")
        known = {"stdio": True, "http": can.http, "acp": can.acp}.get(kind, False)
        if not known:
            raise CannotTranslate(
                INVALID_PARAMS,
                f"the agent does not accept MCP servers of type {kind}",
                {"type": kind, "name": server.get("name")},
            )
        if server["name"] in names:
            raise CannotTranslate(
                INVALID_PARAMS, f"two MCP servers are named {server['name']}", None
            )
        names.add(server["name"])
        for name in SERVER_LISTS[kind]:
            if server.get(name) is None:
                server[name] = []
        if kind == "stdio":
            del server["type"]
    return servers or []
