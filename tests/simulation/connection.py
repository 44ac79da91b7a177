"""One connection between the two sides of a world, and how it breaks."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import Any

import anyio

from accord.client import Client
from accord.client.options import ClientOptions
from accord.client.permissions.permissions import Permissions
from accord.client.services.elicitation import Elicitations
from accord.transport import pipes
from accord.transport.memory import memory_pair
from tests.simulation.event_log import Chronicle
from tests.simulation.frame_checks import Conversation, Watched
from tests.simulation.peers.agent import LOGIN, AgentSide
from tests.simulation.peers.client import ClientSide
from tests.simulation.plan import Plan
from tests.simulation.runtime.loop import SeededLoop
from tests.simulation.runtime.simulated_pipes import Kernel
from tests.simulation.runtime.stores import Life
from tests.simulation.runtime.transport import lossy_pair

# Whoever was left by its peer, or is asked to end, ends within this.
END_SECONDS_MAX = 45.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a connection needs of its world."""

    plan: Plan
    loop: SeededLoop
    random: Random
    chronicle: Chronicle
    kernel: Kernel
    life: Life
    waiting: Callable[[], str]


def client_options(plan: Plan, client: ClientSide) -> ClientOptions:
    """What the client's program asks for."""
    options: ClientOptions = {
        "versions": (plan.version,),
        "permissions": Permissions.ask(client.decide, per_session=plan.seed % 2 == 0),
        "files": client.services.files,
        "terminals": client.services.terminals,
        "elicitation": Elicitations(on_form=client.services.user.fill_in),
        "framing": plan.framing,
        "limits": plan.limits,
        "retry": plan.retry,
        "strict": plan.strict,
    }
    if plan.needs_login:
        options["login"] = LOGIN
    return options


class Wire:
    """One connection between the two sides."""

    def __init__(self, parts: Parts, conversation: Conversation) -> None:
        self._parts = parts
        self.conversation = conversation
        self.over = False
        self.agent_scope = anyio.CancelScope()
        self._agent_ended = anyio.Event()
        self._life = parts.life
        ends: tuple[Any, Any]
        self._fds: dict[str, tuple[int, int]] = {}
        match parts.plan.wire:
            case "pipes":
                one, other = parts.kernel.pair()
                self._fds = {"agent": one, "client": other}
                ends = (pipes.PipeTransport(*one), pipes.PipeTransport(*other))
            case "lossy":
                ends = lossy_pair(parts.loop, parts.random)
            case _:
                ends = memory_pair()
        self.agent_transport = Watched(ends[0], conversation, "agent")
        self.client_transport = Watched(ends[1], conversation, "client")

    async def serve(self, agent: AgentSide) -> None:
        """The agent's process."""
        try:
            with self.agent_scope:
                await agent.agent.serve(self.agent_transport)
        except Exception as error:
            if not self._life.dead:
                self._parts.chronicle.wrong(f"serving ended with {error!r}")
        finally:
            self._agent_ended.set()

    def connect(self, client: ClientSide) -> AbstractAsyncContextManager[Client]:
        """The client's process."""
        options = client_options(self._parts.plan, client)
        return Client.connect(self.client_transport, **options)

    async def agent_ends(self) -> None:
        """The client has gone: the agent ends by itself, soon."""
        with anyio.move_on_after(END_SECONDS_MAX) as patience:
            await self._agent_ended.wait()
        if patience.cancelled_caught:
            waiting = self._parts.waiting()
            self._parts.chronicle.wrong(f"the agent goes on, its client is gone: {waiting}")
            self.agent_scope.cancel()

    def cut(self, *, loses: bool) -> None:
        """Both live on, and no longer hear each other."""
        if self._parts.plan.wire == "lossy":
            self.agent_transport.inner.cut(loses=loses)  # type: ignore[attr-defined]
            return
        self.sever("agent", loses=loses)
        if self._fds:
            self.sever("client", loses=loses)

    def sever(self, side: str, *, loses: bool) -> None:
        """The process of this side is gone, as the other sees it."""
        transport = self.agent_transport if side == "agent" else self.client_transport
        if side in self._fds:
            self._parts.kernel.sever(self._fds[side], loses=loses)
        elif self._parts.plan.wire == "lossy":
            transport.inner.break_off(loses=loses)  # type: ignore[attr-defined]
        else:
            self._parts.loop.create_task(transport.inner.aclose())
