"""One connection to a client: where each of its messages goes, and whether it may be sent.

What always holds
    * A session of others does not exist for a client that is not a member of it.
    * What a role does not cover is refused and reaches no agent.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError, RequestError, RequestFailed
from accord.gateway.access.limits import LimitReached, Usage
from accord.gateway.access.principal import Principal
from accord.gateway.agents.agent_process import AgentProcess, Answer, Version, session_named
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.configuration.rights import ROLES, Role, includes
from accord.gateway.sessions import log_events
from accord.gateway.sessions.attachment import Attachment
from accord.gateway.sessions.hosted_session import (
    AUTHOR_META,
    Forwarded,
    HostedSession,
    Prompt,
)
from accord.gateway.sessions.log_events import Event, content_of
from accord.gateway.sessions.roles import role_needed
from accord.gateway.sessions.session_facts import SessionFacts, role_in
from accord.jsonrpc.envelope import notification_frame
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PERMISSION_DENIED,
    RESOURCE_NOT_FOUND,
)
from accord.machine.redacted_logs import logger
from accord.protocol.extensions import advertised, read_advertised
from accord.proxy.hop import Endpoint, Hop, OpenRequest, Outbox
from accord.proxy.request_forward import AnswerForwarder
from accord.schema.codec import encode, to_python
from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE
from accord.schema.struct import Raw
from accord.transport.transport import Ended, Transport

_log = logger("accord.gateway")

METHODS: Final = (
    "_accord.session/members",
    "_accord.session/presence",
    "_accord.session/remove",
    "_accord.session/set_role",
)
"""What the gateway understands beyond the protocol."""

PRESENCE_EVENTS: Final = frozenset({"typing", "idle", "focus", "blur"})


class Gateway(Protocol):
    """What a connection needs of the gateway."""

    tasks: TaskGroup

    usage: Usage

    async def find(self, session_id: str, principal: Principal) -> HostedSession | None:
        """Return a session that somebody may see."""
        ...

    async def new_session(
        self, client: ClientConnection, method: str, params: dict[str, Any]
    ) -> tuple[HostedSession, Raw]:
        """Open a session in a process of the agent; return it and what the agent answered."""
        ...

    async def list_sessions(self, client: ClientConnection, params: dict[str, Any]) -> Any:
        """Return a page of the sessions that somebody may see."""
        ...

    async def close(self, session: HostedSession, *, delete: bool) -> None:
        """End a session in its process, for everybody; with `delete` forget it as well."""
        ...

    def process_for(self, client: ClientConnection) -> Awaitable[AgentProcess]:
        """Return a process for what is about no session."""
        ...


class ClientConnection:
    """The owner of the wire to one client."""

    def __init__(
        self,
        transport: Transport,
        principal: Principal,
        agent: HostedAgent,
        version: Version,
        gateway: Gateway,
        *,
        refusal: LimitReached | None = None,
    ) -> None:
        """`refusal` is why the client may not have this connection."""
        self.principal = principal.name
        self.display_name = principal.display_name
        self.rights = principal
        self._refusal = refusal
        self.agent = agent
        self.version: Version = version
        self.initialize: dict[str, Any] | None = None
        """What the client said in `initialize`."""
        self.process: AgentProcess | None = None
        """The process that this connection has started and that has no session yet, or all."""
        self.attachments: dict[str, Attachment] = {}
        self.sessions: dict[str, HostedSession] = {}
        self.token = secrets.token_hex(8)
        """Tells the prompts of this connection from others in the log."""
        self.over = anyio.Event()
        self._gateway = gateway
        self._outbox = Outbox()
        self._hop = Hop("the client", transport, self, gateway.tasks, self._outbox)
        # The extensions that the client understands.
        self._understood: frozenset[str] = frozenset()
        self._replies: dict[str, Callable[[OpenRequest, Raw], Awaitable[None]]] = {
            "session/new": self._new,
            "session/fork": self._new,
            "session/load": self._join,
            "session/resume": self._join,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._close,
            "_accord.session/members": self._members,
            "_accord.session/set_role": self._set_role,
            "_accord.session/remove": self._set_role,
        }

    async def serve(self) -> None:
        """Serve the client until it goes."""
        await self._hop.transport.start(self._hop, self._gateway.tasks)
        try:
            await self.over.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await self._leave()

    async def _leave(self) -> None:
        for attachment in list(self.attachments.values()):
            session = self.sessions[attachment.session_id]
            session.detach(attachment)
        self.attachments.clear()
        process, self.process = self.process, None
        if process is not None:
            process.client = None
            if not process.sessions:
                await process.aclose()
        await self._hop.transport.aclose()

    # ---- the follower of a session

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._hop.transport.backlog

    async def drain(self) -> None:
        """Wait until it has taken most of them."""
        await self._hop.transport.drain()

    def show(self, attachment: Attachment, event: Event) -> None:
        """Send what an event means."""
        match event.kind:
            case log_events.UPDATE:
                if attachment.is_replaying and b'"state_update"' in event.body:
                    return
                self._hop.send(notification_frame(SESSION_UPDATE, event.body))
            case log_events.NOTIFICATION:
                content = content_of(event)
                params = encode(content["params"])
                self._hop.send(notification_frame(content["method"], params))
            case log_events.PROMPT:
                self._show_prompt(attachment, event)
            case log_events.REMARK:
                self._show_remark(attachment, content_of(event)["text"], event.seq)
            case _:
                pass

    def _show_prompt(self, attachment: Attachment, event: Event) -> None:
        # A v2 agent repeats the prompt itself.  A client knows the prompt that it sent just now.
        if self.version == "v2":
            return
        content = content_of(event)
        is_own = content.get("connection") == self.token and not attachment.is_replaying
        if is_own:
            return
        for block in content.get("prompt") or ():
            update = {
                "sessionUpdate": "user_message_chunk",
                "messageId": f"prompt-{event.seq}",
                "content": block,
                "_meta": {AUTHOR_META: content["author"]},
            }
            self._update(attachment, update)

    def _show_remark(self, attachment: Attachment, text: str, seq: int) -> None:
        block = {"type": "text", "text": text}
        update: dict[str, Any] = {"_meta": {"accord/remark": True}, "content": block}
        if self.version == "v1":
            update["sessionUpdate"] = "agent_message_chunk"
        else:
            update |= {"sessionUpdate": "agent_message", "content": [block]}
            update["messageId"] = f"remark-{seq}"
        self._update(attachment, update)

    def _update(self, attachment: Attachment, update: dict[str, Any]) -> None:
        params = encode({"sessionId": attachment.session_id, "update": update})
        self._hop.send(notification_frame(SESSION_UPDATE, params))

    def extension(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification of the gateway's own, if the client understands it."""
        if method in self._understood:
            self._hop.notify(method, encode(params))

    def call(self, request: OpenRequest, params: bytes) -> None:
        """Pass a request of the agent on, and its answer back."""
        call_id = self._hop.call(request.method, params, AnswerForwarder(request))
        if call_id:
            request.sent = (self._hop, call_id)

    def ask(
        self, attachment: Attachment, key: int, method: str, params: bytes
    ) -> Callable[[], None] | None:
        """Ask what several people may answer; return what takes it back."""
        session = self.sessions[attachment.session_id]

        def told(answer: Answer) -> None:
            if answer.result is not None:
                session.shared.answered(attachment, key, self.principal, answer.result)
            elif answer.error is not None and self._hop.why is None:
                session.shared.refused(attachment, key, *answer.error[:2])

        call_id = self._hop.call(method, params, Answer(told))
        if not call_id:
            return None

        def take_back() -> None:
            if call_id in self._hop.calls:
                self._hop.notify(CANCEL_REQUEST, encode({"requestId": call_id}))

        return take_back

    # ---- what the client says

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        """Pass a notification of the client on to the agent."""
        del end, frame
        seconds = self._gateway.usage.charge(self.principal, memoryview(params).nbytes)
        if seconds > 0:
            self._gateway.tasks.start_soon(self._read_later, seconds, name="rate limit")
        session_id = session_named(params)
        attachment = None if session_id is None else self._attachment(session_id)
        if attachment is None:
            if session_id is None and self.process is not None:
                self.process.notify(method, params)
            return
        session = self.sessions[attachment.session_id]
        if method == "_accord.session/presence":
            event = to_python(params).get("event")
            if event in PRESENCE_EVENTS:
                session.announce(self, event)
        elif not includes(attachment.role, role_needed(method)):
            _log.info("%s of a %s was ignored", method, attachment.role)
        elif method == "session/cancel":
            session.cancel(self)
        else:
            session.forward_notification(method, params)

    async def _read_later(self, seconds: float) -> None:
        """Read nothing of a client that sends too much, for a while."""
        self._hop.pause()
        await anyio.sleep(seconds)
        self._hop.resume()

    def requested(self, request: OpenRequest, params: Raw) -> None:
        """Check a request of the client and pass it to what answers it."""
        method = request.method
        try:
            self._gateway.usage.admit(self.principal, memoryview(params).nbytes)
        except LimitReached as reached:
            error = reached.request_error()
            request.refuse(error.code, error.message, encode(error.data))
            return
        if method == "initialize":
            self._initialize(request, params)
            return
        if self.initialize is None:
            request.refuse(INVALID_REQUEST, f"{method} came before initialize")
            return
        reply = self._replies.get(method)
        kept = Raw(bytes(memoryview(params)))
        if reply is not None:
            self._gateway.tasks.start_soon(self._reply, reply, request, kept, name=method)
            return
        session_id = session_named(params)
        if session_id is None:
            self._gateway.tasks.start_soon(self._reply, self._connection_request, request, kept)
            return
        attachment = self._attachment(session_id)
        if attachment is None:
            self._refuse_unknown(request, session_id)
        elif self._may(attachment, request):
            session = self.sessions[attachment.session_id]
            if method == "session/prompt":
                session.prompt(attachment, request, kept)
            else:
                session.forward(attachment, request, kept)

    def withdrawn(self, request: OpenRequest, params: Raw) -> None:
        """The client takes a request back, or is gone."""
        session = request.run.session if isinstance(request.run, Prompt | Forwarded) else None
        if session is not None and not self.over.is_set():
            session.withdraw(request)

    def answered(self, request: OpenRequest) -> None:
        """Nothing to do: the session keeps its own list."""

    def gone(self, hop: Hop, why: Ended) -> None:
        """The client is gone."""
        del hop, why
        self.over.set()

    def role_in(self, facts: SessionFacts) -> Role | None:
        """Return what the client may do in a session; None if it may not see it."""
        return role_in(facts, self.rights)

    def _attachment(self, session_id: str) -> Attachment | None:
        """Return how the client follows a session, if it still does."""
        attachment = self.attachments.get(session_id)
        if attachment is not None and attachment.is_over:
            del self.attachments[session_id], self.sessions[session_id]
            return None
        return attachment

    def _may(self, attachment: Attachment, request: OpenRequest) -> bool:
        needed = role_needed(request.method)
        if includes(attachment.role, needed):
            return True
        article = "an" if needed[0] in "ae" else "a"
        said = f"{request.method} needs {article} {needed}; your role is {attachment.role}"
        data = {"reason": "role", "role": attachment.role, "needed": needed}
        request.refuse(PERMISSION_DENIED, said, encode(data))
        return False

    def _refuse_unknown(self, request: OpenRequest, session_id: str) -> None:
        said = f"there is no session {session_id!r} on this connection; load or resume it first"
        request.refuse(RESOURCE_NOT_FOUND, said, encode({"sessionId": session_id}))

    # ---- requests that take time

    async def _reply(
        self,
        reply: Callable[[OpenRequest, Raw], Awaitable[None]],
        request: OpenRequest,
        params: Raw,
    ) -> None:
        try:
            await reply(request, params)
        except RequestFailed as error:
            data = None if error.data is None else encode(error.data)
            request.refuse(error.code, error.message, data)
        except RequestError as error:
            request.refuse(error.code, error.message, encode(error.data) if error.data else None)
        except (AccordError, OSError) as error:
            request.refuse(INTERNAL_ERROR, str(error))

    def _initialize(self, request: OpenRequest, params: Raw) -> None:
        if self.initialize is not None:
            said = "initialize may not be repeated on this connection"
            request.refuse(INVALID_REQUEST, said)
            return
        read = to_python(params)
        self.initialize = read if isinstance(read, dict) else {}
        capabilities = self.initialize.get(
            "clientCapabilities" if self.version == "v1" else "capabilities"
        )
        if isinstance(capabilities, dict):
            self._understood = read_advertised(capabilities)
        self._gateway.tasks.start_soon(self._reply, self._first_answer, request, params)

    async def _first_answer(self, request: OpenRequest, params: Raw) -> None:
        del params
        assert self.initialize is not None
        if self._refusal is not None:
            raise self._refusal.request_error()
        answer = self.agent.known_answer(self.initialize)
        if answer is None:
            try:
                process = await self._gateway.process_for(self)
            except BaseException:
                self.initialize = None
                raise
            answer = process.initialized
        assert answer is not None
        request.answer(encode(with_gateway(to_python(answer), self.version)))

    async def _connection_request(self, request: OpenRequest, params: Raw) -> None:
        process = await self._gateway.process_for(self)
        answer = await process.call(request.method, params)
        request.answer(answer)

    async def _new(self, request: OpenRequest, params: Raw) -> None:
        read = to_python(params)
        if not isinstance(read, dict):
            raise RequestError.invalid_params("Expected `object`", "$")
        if not includes(self.rights.role_for(self.agent.name), "editor"):
            said = f"you may follow sessions of {self.agent.name}, but not start any"
            data = {"reason": "role", "role": "viewer", "needed": "editor"}
            raise RequestFailed(request.method, PERMISSION_DENIED, said, data)
        self._refuse_programs(read)
        self._check_folder(read)
        session, result = await self._gateway.new_session(self, request.method, read)
        if self.over.is_set():
            return
        self._follow(session, "admin", cursor=0)
        self.attachments[session.session_id].after(0, partial(request.answer, result))

    def _refuse_programs(self, params: dict[str, Any]) -> None:
        """Refuse MCP servers that would be started as programs on this machine."""
        servers = params.get("mcpServers")
        for server in servers if isinstance(servers, list) else ():
            if not isinstance(server, dict) or server.get("type", "stdio") != "stdio":
                continue
            if self.agent.settings.stdio_mcp.allows(*_program_of(server)):
                continue
            name = str(server.get("name", "without a name"))
            said = (
                f"the MCP server {name!r} would run a program on the machine that hosts this"
                " agent, which does not allow that; connect without it, or use a server with"
                " a URL"
            )
            data = {"reason": "stdio_mcp_server", "server": name, "policy": "refused"}
            raise RequestFailed("session/new", INVALID_PARAMS, said, data)

    def _check_folder(self, params: dict[str, Any]) -> None:
        """Refuse a session outside the folder that the agent's clients may use."""
        root = self.agent.settings.root
        folders = [params.get("cwd"), *(params.get("additionalDirectories") or ())]
        for folder in folders if root is not None else ():
            if isinstance(folder, str) and not Path(os.path.realpath(folder)).is_relative_to(
                os.path.realpath(str(root))
            ):
                said = f"sessions of this agent are in {root}; {folder} is outside"
                data = {"reason": "outside_root", "root": str(root)}
                raise RequestFailed("session/new", INVALID_PARAMS, said, data)

    def _follow(self, session: HostedSession, role: Any, *, cursor: int) -> None:
        old = self.attachments.pop(session.session_id, None)
        if old is not None:
            session.detach(old)
        self.sessions[session.session_id] = session
        self.attachments[session.session_id] = session.attach(self, role, cursor=cursor)

    async def _find(self, request: OpenRequest, params: Raw) -> tuple[HostedSession, Any]:
        read = to_python(params)
        session_id = session_named(params)
        if session_id is None:
            raise RequestError.invalid_params("missing required key", "$.sessionId")
        session = await self._gateway.find(session_id, self.rights)
        role = None if session is None else self.role_in(session.facts)
        if session is None or role is None or session.facts.agent != self.agent.name:
            said = f"there is no session {session_id!r}"
            raise RequestFailed(request.method, RESOURCE_NOT_FOUND, said, {"sessionId": session_id})
        return session, read

    async def _join(self, request: OpenRequest, params: Raw) -> None:
        session, read = await self._find(request, params)
        self._refuse_programs(read)
        role = self.role_in(session.facts)
        await session.flush()
        replays = request.method == "session/load" or read.get("replayFrom") is not None
        self._follow(session, role, cursor=0 if replays else session.last_seq)
        attachment = self.attachments[session.session_id]
        attachment.after(session.last_seq, partial(self._joined, request, session, attachment))

    def _joined(self, request: OpenRequest, session: HostedSession, attachment: Attachment) -> None:
        if self.version == "v2":
            idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
            self._update(attachment, session.state or idle)
        opened = {key: one for key, one in session.facts.opened.items() if key != "sessionId"}
        request.answer(encode(opened))

    async def _list(self, request: OpenRequest, params: Raw) -> None:
        request.answer(encode(await self._gateway.list_sessions(self, to_python(params))))

    async def _close(self, request: OpenRequest, params: Raw) -> None:
        session, _ = await self._find(request, params)
        attachment = self.attachments.get(session.session_id)
        deletes = request.method == "session/delete"
        role = self.role_in(session.facts) or "viewer"
        if includes(role, role_needed(request.method)):
            await self._gateway.close(session, delete=deletes)
            self.attachments.pop(session.session_id, None)
        elif deletes:
            raise RequestFailed(
                request.method,
                PERMISSION_DENIED,
                f"session/delete needs an admin; your role is {role}",
                {"reason": "role", "role": role, "needed": "admin"},
            )
        elif attachment is not None:
            # Somebody who may not close it leaves it.
            session.detach(self.attachments.pop(session.session_id))
        request.answer(b"{}")

    async def _members(self, request: OpenRequest, params: Raw) -> None:
        session, _ = await self._find(request, params)
        request.answer(encode({"members": session.people()}))

    async def _set_role(self, request: OpenRequest, params: Raw) -> None:
        session, read = await self._find(request, params)
        mine = self.role_in(session.facts) or "viewer"
        if not includes(mine, role_needed(request.method)):
            said = f"{request.method} needs an admin; your role is {mine}"
            data = {"reason": "role", "role": mine, "needed": "admin"}
            raise RequestFailed(request.method, PERMISSION_DENIED, said, data)
        user, role = read.get("user"), read.get("role")
        if not isinstance(user, str) or not user:
            raise RequestError.invalid_params("Expected `str`", "$.user")
        if user == session.facts.owner:
            raise RequestError.invalid_params("the owner stays an admin", "$.user")
        if request.method == "_accord.session/remove":
            session.set_role(user, None)
        elif role in ROLES:
            session.set_role(user, role)
        else:
            raise RequestError.invalid_params(f"Expected one of {', '.join(ROLES)}", "$.role")
        await session.flush()
        request.answer(encode({"members": session.people()}))


def _program_of(server: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the variables of an MCP server."""
    args = server.get("args")
    words = [str(server.get("command", "")), *map(str, args if isinstance(args, list) else ())]
    variables = server.get("env")
    named = {
        str(one.get("name")): str(one.get("value"))
        for one in (variables if isinstance(variables, list) else ())
        if isinstance(one, dict)
    }
    return words, named


def with_gateway(answer: dict[str, Any], version: Version) -> dict[str, Any]:
    """Add to an agent's answer to `initialize` what the gateway does for every agent."""
    if version == "v1":
        capabilities = dict(answer.get("agentCapabilities") or {})
        capabilities["loadSession"] = True
        of_sessions = dict(capabilities.get("sessionCapabilities") or {})
        of_sessions |= {"list": {}, "close": {}, "delete": {}, "resume": {}}
        capabilities["sessionCapabilities"] = of_sessions
        key = "agentCapabilities"
    else:
        capabilities = dict(answer.get("capabilities") or {})
        session = dict(capabilities.get("session") or {})
        session["delete"] = {}
        mcp = session.get("mcp")
        if isinstance(mcp, dict):
            session["mcp"] = {name: one for name, one in mcp.items() if name != "stdio"}
        capabilities["session"] = session
        key = "capabilities"
    meta = dict(capabilities.get("_meta") or {})
    meta |= advertised([*read_advertised(capabilities), *METHODS])
    return {**answer, key: {**capabilities, "_meta": meta}}
