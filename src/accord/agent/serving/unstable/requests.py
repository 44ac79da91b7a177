"""The unstable requests, which are the same in v1 and v2, and what they change in stable ones.

They exist only for an agent made with `unstable=True`.  The structs are v2's, which for these
methods are identical to v1's.

What always holds
    * Only its parent changes the session of a subagent; a client may cancel it if that was granted.
    * A query (`session/status`, `auth/status`) changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from accord.agent.serving.active_sessions import ActiveSessions
from accord.agent.serving.login_state import LoginState
from accord.agent.serving.wire import Features, empty_after
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.errors import RequestError
from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.struct import UNSET, Raw

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition, ConnectedSessions
    from accord.agent.session.session_state import SessionState
    from accord.store import SessionRecord

T = TypeVar("T")
Handler = Callable[[IncomingRequest], bytes | Work]

TITLE_CHARS_MAX = 200
MCP_MESSAGE = "mcp/message"

_ARCHIVE_FILTERS: Mapping[str, bool | None] = {"exclude": False, "include": None, "only": True}


class UnstableRequests:
    """Serves the unstable requests of one connection."""

    def __init__(self, sessions: ActiveSessions, login: LoginState) -> None:
        self._sessions = sessions
        self._login = login
        self._agent = sessions.agent

    def table(self, stable: Mapping[str, Handler], fork: Handler) -> dict[str, Handler]:
        """The requests that are served: the stable ones, and those of the agent's features."""
        if not self._agent.unstable:
            return dict(stable)
        served = {
            **stable,
            "session/fork": fork,
            "session/archive": self._archive,
            "session/unarchive": self._unarchive,
            "session/set_title": self._set_title,
        }
        guarded = {method: self._guarded(handler) for method, handler in served.items()}
        guarded["session/status"] = self._status
        guarded["auth/status"] = lambda _request: self._login.auth_status.answer
        if self._agent.providers:
            guarded["providers/list"] = self._list_providers
            guarded["providers/set"] = self._set_provider
            guarded["providers/disable"] = self._disable_provider
        return guarded

    def notification(self, method: str, params: Raw) -> bool:
        """Handle a notification; False if it is not an unstable one."""
        if method != MCP_MESSAGE or "acp" not in self._agent.mcp:
            return False
        self._sessions.mcp_calls.notification(params)
        return True

    # ---- subagents

    def _guarded(self, handler: Handler) -> Handler:
        def guarded(request: IncomingRequest) -> bytes | Work:
            if any(session.children for session in self._sessions.by_id.values()):
                self._refuse_child(request.params)
            return handler(request)

        return guarded

    def _refuse_child(self, raw: Raw) -> None:
        params = to_python(raw)
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(session_id, str) and self._child(session_id) is not None:
            raise RequestError.invalid_params(
                f"session {session_id} belongs to a subagent and follows its parent", "$.sessionId"
            )

    def _child(self, session_id: str) -> Any:
        for session in self._sessions.by_id.values():
            if session_id in session.children:
                return session.children[session_id]
        return None

    def cancel_child(self, session_id: str) -> None:
        """Cancel a subagent, if its parent allows that."""
        child = self._child(session_id)
        if child is not None and child.cancellable:
            child.cancel()

    # ---- sessions

    def _read(self, wanted: type[T], request: IncomingRequest) -> T:
        try:
            return decode(wanted, request.params, strict=self._agent.strict)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None

    def _live(self, session_id: str) -> list[tuple[ConnectedSessions, SessionState]]:
        """A session wherever it is open, on any connection of this agent."""
        return [
            (connected, connected.by_id[session_id])
            for connected in list(self._agent.connected)
            if session_id in connected.by_id and not connected.by_id[session_id].closed
        ]

    async def _known(self, session_id: str) -> SessionRecord:
        record = await self._sessions.store.get(session_id)
        if record is None:
            raise RequestError.session_missing(session_id)
        return record

    async def _amend(self, session_id: str, **about: Any) -> None:
        """Change the record of a session, also where it is open and would be written back."""
        await self._sessions.store.put(replace(await self._known(session_id), **about))
        for _, session in self._live(session_id):
            await session.stored.amend(**about)

    def _archive(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.ArchiveSessionRequest, request)

        async def work() -> None:
            await self._known(wanted.session_id)
            for connected, session in self._live(wanted.session_id):
                await connected.close(session)
            await self._amend(wanted.session_id, archived=True)

        return empty_after(work)

    def _unarchive(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.UnarchiveSessionRequest, request)
        return empty_after(lambda: self._amend(wanted.session_id, archived=False))

    def _status(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.SessionStatusRequest, request)

        async def work() -> bytes:
            await self._known(wanted.session_id)
            live = self._live(wanted.session_id)
            if not live:
                return encode(v2.SessionStatusResponse(status="saved"))
            state = _snapshot(live[0][1]) if self._sessions.wire.has_states else UNSET
            return encode(v2.SessionStatusResponse(status="open", state=state))

        return work

    def _set_title(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.SetSessionTitleRequest, request)
        title = " ".join(wanted.title.split())[:TITLE_CHARS_MAX].strip()
        if not title:
            raise RequestError.invalid_params("a title needs at least one character", "$.title")

        async def work() -> bytes:
            await self._amend(wanted.session_id, title=title, titled_by_user=True)
            for _, session in self._live(wanted.session_id):
                await session.updates.emit(v2.SessionInfoUpdate(title=title))
            return encode(v2.SetSessionTitleResponse(title=title))

        return work

    def archive_filter(self, asked: Any) -> bool | None:
        """The filter of `session/list`; agents that do not archive list all sessions."""
        if not self._agent.unstable:
            return None
        name = "exclude" if asked is UNSET or asked is None else asked
        if name not in _ARCHIVE_FILTERS:
            raise RequestError.invalid_params(f"unknown filter {name!r}", "$.archived")
        return _ARCHIVE_FILTERS[name]

    def listed(self, record: SessionRecord) -> dict[str, Any]:
        """The unstable fields of an entry of the list."""
        return {"archived": record.archived} if self._agent.unstable else {}

    def about(self, wanted: Any) -> dict[str, Any]:
        """The system prompt of a session request, for the session's record.

        Raises:
            RequestError: it cannot be applied as it is.
        """
        prompt = wanted.system_prompt
        if not self._agent.unstable or prompt is UNSET or prompt is None:
            return {}
        modes = ["append"] if self._agent.takes_system_prompt else []
        modes += ["override"] if self._agent.takes_system_prompt_override else []
        if prompt.mode not in modes:
            raise RequestError.invalid_params(
                f"this agent does not support the system prompt mode {prompt.mode!r}",
                "$.systemPrompt.mode",
            )
        if not prompt.content:
            raise RequestError.invalid_params("the prompt is empty", "$.systemPrompt.content")
        texts: list[str] = []
        for index, block in enumerate(prompt.content):
            text = getattr(block, "text", None)
            if not isinstance(text, str):
                raise RequestError.invalid_params(
                    "a system prompt must be text", f"$.systemPrompt.content[{index}].type"
                )
            texts.append(text)
        overrides = prompt.mode == "override"
        return {"system_prompt": "\n".join(texts), "system_prompt_overrides": overrides}

    # ---- providers

    def _list_providers(self, request: IncomingRequest) -> bytes:
        self._read(v2.ListProvidersRequest, request)
        slots = [slot.info() for slot in self._agent.providers.all()]
        return encode(v2.ListProvidersResponse(providers=slots))

    def _set_provider(self, request: IncomingRequest) -> Work:
        from accord.agent.serving.unstable.providers import ProviderConfig

        wanted = self._read(v2.SetProviderRequest, request)
        headers = {} if wanted.headers is UNSET else dict(wanted.headers)
        config = ProviderConfig(wanted.api_type, wanted.base_url, headers)
        return empty_after(lambda: self._agent.providers.set(wanted.provider_id, config))

    def _disable_provider(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.DisableProviderRequest, request)
        return empty_after(lambda: self._agent.providers.disable(wanted.provider_id))


def gated(agent: AgentDefinition, offered: Features) -> Features:
    """The client's features without the unstable ones that the agent does not use."""
    on = agent.unstable
    return offered._replace(plans=offered.plans and on, subagents=offered.subagents and on)


def _snapshot(session: SessionState) -> v2.StateSnapshot:
    now = session.state_update()
    return v2.StateSnapshot(
        state=now.state,
        stop_reason=now.stop_reason,
        error=now.error,
        usage=now.usage,
        background=now.background,
    )
