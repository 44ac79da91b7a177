"""One remote connection of a world: the real server, the real client, and a played network."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from unittest import mock

import anyio

from accord.client import Client
from accord.client.connection import remote_agent
from accord.client.options import ClientOptions, DraftOptions
from accord.errors import AccordError
from accord.transport.remote_transport import remote_transport
from accord.transport.server.application import RemoteApplication
from accord.transport.server.listener.remote_server import RemoteServer
from accord.transport.transport import Transport
from tests.agent.draft.only_draft import OnlyDraft
from tests.simulation.connection import client_options
from tests.simulation.event_log import Chronicle
from tests.simulation.peers.agent import AgentSide
from tests.simulation.peers.client import ClientSide
from tests.simulation.remote.conversation import RemoteConversation, WatchedClient
from tests.simulation.remote.http_server import PlayedHttpServer
from tests.simulation.remote.network import Network
from tests.simulation.remote.plan import RemotePlan

PORT = 4000
# A server frees the connection of a client that has said goodbye within this.
GOODBYE_SECONDS_MAX = 8.0


class KnownDraft(OnlyDraft):
    """The same for the agent of a world."""

    def recall(self, agent: Sequence[str]) -> tuple[str, str] | None:
        return "draft", "1"

    def forget(self, agent: Sequence[str]) -> None:
        """A connection that failed says nothing about the agent."""


class RemoteWire:
    """Guards: the server runs until its last connection is gone, or too long."""

    def __init__(
        self,
        plan: RemotePlan,
        chronicle: Chronicle,
        network: Network,
        conversation: RemoteConversation,
        make_server: Callable[[RemoteApplication], PlayedHttpServer],
    ) -> None:
        self._plan = plan
        self._chronicle = chronicle
        self._network = network
        self._make_server = make_server
        self.conversation = conversation
        self.over = False
        self._listening = anyio.Event()
        self._client_gone = anyio.Event()
        self._agent_ended = anyio.Event()
        self._application: RemoteApplication | None = None

    # ---- the server

    async def serve(self, agent: AgentSide) -> None:
        """Serve the agent until the client is gone."""
        application = self._application = agent.agent.asgi(limits=self._plan.limits)
        serve = application.connections._serve

        async def watched(transport: Transport, principal: str) -> None:
            await serve(self.conversation.agent_end(transport), principal)

        application.connections._serve = watched
        try:
            async with self._server(application):
                self._listening.set()
                await self._client_gone.wait()
                await self._all_gone(application)
        except Exception as error:
            self._chronicle.wrong(f"serving ended with {error!r}")
            raise
        finally:
            self._agent_ended.set()

    @contextlib.asynccontextmanager
    async def _server(self, application: RemoteApplication) -> AsyncIterator[None]:
        """Our own listener, or an ASGI server that knows nothing of us."""
        if self._plan.server == "asgi":
            played = self._make_server(application)
            played.listen(PORT)
            async with application:
                yield
            played.stop()
            return
        with mock.patch.object(RemoteServer, "_start_granian", self._start_http):
            async with RemoteServer(application, port=PORT):
                yield

    @property
    def _start_http(self) -> Any:
        wire = self

        async def start(server: RemoteServer) -> None:
            """Start the played HTTP server in the place of granian."""
            assert isinstance(server.application, RemoteApplication)
            played = wire._make_server(server.application)
            played.listen(server.socket_path)
            server._granian = played  # type: ignore[assignment]
            server._granian_task = asyncio.get_running_loop().create_task(played.serve())

        return start

    async def _all_gone(self, application: RemoteApplication) -> None:
        """The server forgets the client: at once if it could say goodbye, else after a while."""
        limits = self._plan.limits
        seconds = GOODBYE_SECONDS_MAX
        if self._network.troubles:
            # Found out, waited for, and what was begun meanwhile.
            seconds += 3 * limits.silence_seconds + 2 * limits.grace_seconds
            seconds += limits.stall_seconds + limits.early_seconds + limits.connect_seconds
        with anyio.move_on_after(seconds):
            while len(application.connections) or application.connections._tasks:
                await anyio.sleep(0.5)
            return
        left = len(application.connections)
        self._chronicle.wrong(f"{left} connections are left {seconds:g} s after the client")

    async def agent_ends(self) -> None:
        """The client has gone: wait for the server's end."""
        self._network.calm()
        self._client_gone.set()
        await self._agent_ended.wait()

    # ---- the client

    @contextlib.asynccontextmanager
    async def connect(self, client: ClientSide) -> AsyncIterator[Client]:
        """Connect by URL, as a program does."""
        await self._listening.wait()
        plan = self._plan
        options: ClientOptions = client_options(plan.life, client)
        if plan.dialect == "draft":
            options["draft"] = DraftOptions(dialects=KnownDraft())

        def made(url: str, **given: Any) -> Callable[[], Transport]:
            make = remote_transport(url, **given)
            return lambda: WatchedClient(make(), self.conversation, "client")

        scheme = "ws" if plan.transport == "websocket" else "http"
        url = f"{scheme}://127.0.0.1:{PORT}/acp"
        with mock.patch.object(remote_agent, "remote_transport", made):
            connecting = Client.connect(url, remote_limits=plan.limits, **options)
        async with contextlib.AsyncExitStack() as stack:
            try:
                connected = await stack.enter_async_context(connecting)
            except AccordError:
                # Nobody tries again before the connection is made.
                self._chronicle.broken = plan.from_the_start and self._network.troubles > 0
                raise
            self._network.start_trouble()
            stack.callback(self._closes)
            yield connected

    def _closes(self) -> None:
        self.conversation.is_closing = True
        if self._plan.vanishes:
            self._network.silence_all()


__all__ = ["RemoteWire"]
