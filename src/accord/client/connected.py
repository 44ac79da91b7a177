"""A client's connection to its agent: beginning and end, calls, logins, and what the agent is.

Must not know: sessions, beyond those that the link keeps.

What always holds: after `stop` nothing that was started for the agent is left.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio.abc import TaskGroup

from accord.client import auth
from accord.client.capabilities import AgentCapabilities
from accord.client.handshake import Implementation
from accord.client.link import Link
from accord.client.options import Options, make_offer
from accord.client.serving import Serving
from accord.client.wire import AuthMethod, Request
from accord.errors import AuthenticationRequired, LocalProtocolError, RemoteProtocolError
from accord.protocol.extensions import check_name, read_advertised
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.struct import Raw
from accord.transport.transport import Transport

T = TypeVar("T")


class Connected:
    """One agent at the other end.

    Guards: there is one link at a time, and calls go to the one that is open.
    """

    def __init__(
        self,
        make_transport: Callable[[], Transport],
        options: Options,
        command: tuple[str, ...] = (),
    ) -> None:
        self._make_transport = make_transport
        self.options = options
        # How the agent was started, for a login that starts it again.
        self._command = command
        self._tasks: TaskGroup | None = None
        self._link: Link | None = None

    async def start(self, tasks: TaskGroup) -> None:
        """Connect and shake hands, in tasks of this group."""
        self._tasks = tasks
        serving = Serving(self.options)
        link = Link(self._make_transport(), self.options, serving)
        serving.link = self._link = link
        await tasks.start(link.run)
        await link.shake_hands(make_offer(self.options))

    async def stop(self) -> None:
        """End the connection and whatever was started for the agent."""
        if self._link is not None:
            await self._link.aclose()

    # ---- what the agent is

    @property
    def agent_info(self) -> Implementation | None:
        """Name and version of the agent, where it gave them."""
        return self.link.facts.info

    @property
    def capabilities(self) -> AgentCapabilities:
        """What the agent can do."""
        return self.link.facts.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in that the agent offers."""
        return self.link.facts.auth_methods

    @property
    def protocol_version(self) -> int:
        """The version that is spoken: 1 or 2."""
        return self.link.wire.version

    @property
    def extensions(self) -> frozenset[str]:
        """The methods beyond the protocol that the agent says it has."""
        return read_advertised(self.capabilities.raw)

    @property
    def link(self) -> Link:
        """The connection of now, open or not."""
        assert self._link is not None, "the client has not been entered"
        return self._link

    @property
    def open_link(self) -> Link:
        """The connection of now.

        Raises:
            ConnectionLost: it is over; says why.
        """
        link = self.link
        if link.connection.error is not None:
            raise link.connection.error
        return link

    def require(self, capability: str, what: str, *, unstable: bool = False) -> None:
        """Check that the agent offered something.

        Raises:
            LocalProtocolError: it did not, or it is unstable and was not asked for.
        """
        if unstable and not self.options.unstable:
            raise LocalProtocolError(f"{what} is unstable: ask for it by unstable=True")
        if not getattr(self.capabilities, capability):
            raise LocalProtocolError(f"the agent does not offer {what}")

    # ---- calling

    async def call(
        self,
        link: Link | None,
        method: str,
        params: bytes,
        *,
        background: bool = False,
        on_result: Callable[[Raw], None] | None = None,
    ) -> Raw:
        """Call the agent; if it wants a login first and we know how, log in and try once more.

        With a link, only that one is used: what belongs to it does not survive a new one, so a
        login that needs a new one is no help.

        Raises:
            RequestFailed: the agent answered with an error.
            RemoteProtocolError: its answer could not be read.
            ConnectionLost: it is gone.
        """
        try:
            try:
                return await (link or self.open_link).call(
                    method, params, background=background, on_result=on_result
                )
            except AuthenticationRequired:
                if not await self._log_in(may_restart=link is None):
                    raise
            return await (link or self.open_link).call(
                method, params, background=background, on_result=on_result
            )
        except Invalid as error:
            raise unreadable(method, error) from None

    async def read(self, request: Request, read: Callable[[Raw], T]) -> T:
        """Call the agent and read its answer."""
        method, params = request
        try:
            return read(await self.call(None, method, params))
        except Invalid as error:
            raise unreadable(method, error) from None

    async def call_extension(
        self, method: str, params: object = None, result: type[T] | None = None
    ) -> T | object:
        """Call a method beyond the protocol.

        `params` is anything that has a JSON form, an object by convention.  With a type for the
        result it is read as that, else as plain values.
        """
        check_name(method)
        given = encode({} if params is None else params)

        def read(raw: Raw) -> T | object:
            return to_python(raw) if result is None else decode(result, raw)

        return await self.read((method, given), read)

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Send a notification beyond the protocol."""
        check_name(method)
        given = encode({} if params is None else params)
        await self.open_link.connection.notify(method, given)

    # ---- logging in and out

    async def authenticate(self, method_id: str | None = None) -> None:
        """Log in by one of the agent's methods; without an id, by the only one there is.

        Raises:
            LocalProtocolError: the agent does not offer it, or it cannot be done from here.
            LoginFailed: a login in a terminal ended with anything but 0.
        """
        methods = self.auth_methods
        if method_id is None:
            if len(methods) != 1:
                known = [method.method_id for method in methods]
                raise LocalProtocolError(f"say which login method: the agent has {known}")
            method_id = methods[0].method_id
        await self._log_in_by(auth.find(method_id, methods))

    async def logout(self) -> None:
        """Make the agent forget who we are; sessions may stop working."""
        self.require("logout", "logging out")
        await self.call(None, *self.open_link.wire.logout())

    async def _log_in(self, *, may_restart: bool) -> bool:
        if self.options.login is None:
            return False
        method = await auth.choose(self.options.login, self.auth_methods)
        if method is None or (method.kind == "terminal" and not may_restart):
            return False
        await self._log_in_by(method)
        return True

    async def _log_in_by(self, method: AuthMethod) -> None:
        if method.kind == "agent":
            link = self.open_link
            await link.call(*link.wire.login(method.method_id))
        elif method.kind == "terminal":
            await self._log_in_by_terminal(method)
        else:
            raise LocalProtocolError(
                f"the login method {method.method_id!r} is of the unknown type {method.kind!r}"
            )

    async def _log_in_by_terminal(self, method: AuthMethod) -> None:
        """Run the agent's own program once more, where the user sees it; then start afresh."""
        run = self.options.login_terminal
        if run is None or not self._command:
            raise LocalProtocolError(
                f"the login method {method.method_id!r} needs a terminal: login_terminal=True"
            )
        status = await run((*self._command, *method.args), method.env)
        if status != 0:
            raise auth.LoginFailed(method.name, status)
        assert self._tasks is not None
        await self.link.aclose()
        await self.start(self._tasks)


def unreadable(method: str, error: Invalid) -> RemoteProtocolError:
    """What a caller is told when an answer is not what the protocol says."""
    return RemoteProtocolError(f"the answer to {method} is invalid: {error}")


__all__ = ["Connected", "unreadable"]
