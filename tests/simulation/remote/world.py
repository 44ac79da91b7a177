"""One remote world from its seed to its verdict.

The peers and most checks are those of local worlds (`../world.py`); the wire is another one.
"""

import contextlib
import random as global_random
import secrets
from collections.abc import Generator
from dataclasses import replace
from random import Random
from unittest import mock
from zlib import crc32

from accord.client import Client
from accord.transport import tcp_connect
from accord.transport.server.application import RemoteApplication
from tests.simulation.remote.conversation import RemoteConversation
from tests.simulation.remote.http_server import Mishap, PlayedHttpServer
from tests.simulation.remote.loop import NetworkLoop
from tests.simulation.remote.network import NEVER, Fate, Network, SocketModule
from tests.simulation.remote.plan import MISHAPS, RemotePlan, fate_of, remote_plan_of
from tests.simulation.remote.wire import RemoteWire
from tests.simulation.world import Verdict, World, run

# Where a connection must survive, new troubles come for this long, and then none for a while:
# nobody gets through a network for a minute that cuts every connection at once.
STORM_SECONDS = 20.0
QUIET_SECONDS = 120.0


class RemoteWorld(World):
    """Guards: nothing is done to the network beyond the plan."""

    # A cut may be found late, and healed later.
    end_seconds = 400.0

    def __init__(self, plan: RemotePlan, loop: NetworkLoop, random: Random) -> None:
        super().__init__(plan.life, loop, random)
        self.remote = plan
        self.network = loop.network = Network(loop, random, self._draw_fate)
        self.network.outages = plan.outages
        self._seeded_loop = loop
        self._has_half_open = False
        self._storm_at = -NEVER

    def _is_spared(self) -> bool:
        """Whether nothing is done to what begins now."""
        if self.network.is_calm or self.network.troubles >= self.remote.troubles_max:
            return True
        if not self.remote.must_survive:
            return False
        now = self.loop.time()
        if now - self._storm_at > STORM_SECONDS + QUIET_SECONDS:
            self._storm_at = now
        return now - self._storm_at > STORM_SECONDS

    def _draw_fate(self) -> Fate | None:
        fate = None if self._is_spared() else fate_of(self.remote, self.random)
        if fate is not None and fate.kind == "half_open" and self.remote.must_survive:
            # One takes half a minute to be found; several take longer than the time of grace.
            if self._has_half_open:
                return replace(fate, kind="reset")
            self._has_half_open = True
        return fate

    def _draw_mishap(self) -> Mishap:
        if self._is_spared() or self.random.random() >= self.remote.mishap_chance:
            return "none"
        mishap = self.random.choice(MISHAPS)
        if mishap != "none":
            now = self.loop.time() - 1000
            self.network.note_trouble(now + 1)
        return mishap

    def _make_server(self, application: RemoteApplication) -> PlayedHttpServer:
        return PlayedHttpServer(
            application,
            self._seeded_loop,
            self.random,
            has_http_2=self.remote.transport == "http2",
            silence_seconds=self.remote.server_silence_seconds,
            draw_mishap=self._draw_mishap,
        )

    def wire(self, name: str) -> RemoteWire:  # type: ignore[override]
        """A new server, and a client that connects to it."""
        conversation = RemoteConversation(
            self.chronicle, name, self.network, self.remote, self.loop.time
        )
        self.conversations.append(conversation)
        self.network.begin(is_calm=not self.remote.from_the_start)
        return RemoteWire(
            self.remote, self.chronicle, self.network, conversation, self._make_server
        )

    async def ask_agent(self, connected: Client) -> None:
        """The draft has no list of sessions."""
        if self.remote.dialect == "draft":
            await connected.call_extension("_twice", {"number": 1})
        else:
            await super().ask_agent(connected)

    def comes_to_rest(self) -> None:
        """The network is left alone, unless the plan makes closing hard too."""
        if not self.remote.until_the_end:
            self.network.calm()

    def open_descriptors(self) -> list[int]:
        return self.network.open_sockets()

    @contextlib.contextmanager
    def ruled_by_seed(self) -> Generator[None]:
        """Ids, keys and chances come from the seed, and sockets from the network."""
        state = global_random.getstate()
        global_random.seed(self.plan.seed)
        ids = Random(self.plan.seed + 2)
        sockets = SocketModule(self.network)
        with (
            mock.patch.object(tcp_connect, "socket", sockets),
            mock.patch("email.utils.formatdate", return_value="Tue, 01 Jan 2030 00:00:00 GMT"),
            mock.patch.object(secrets, "token_bytes", ids.randbytes),
            mock.patch.object(secrets, "token_hex", lambda size: ids.randbytes(size).hex()),
        ):
            try:
                yield
            finally:
                global_random.setstate(state)
                self._seeded_loop.drop_transports()

    def verdict(self) -> Verdict:
        made = super().verdict()
        digest = crc32(b"%d" % made.digest, self.network.checksum)
        return Verdict(
            made.seed,
            made.violations,
            made.steps,
            made.frames,
            made.prompts,
            digest,
            option=" --remote",
        )


def run_remote_world(seed: int) -> Verdict:
    """Run the remote world of a seed; it never raises for what goes wrong in it."""
    plan = remote_plan_of(seed)
    random = Random(seed ^ 0x5EED)
    return run(RemoteWorld(plan, NetworkLoop(random, plan.life.policy), random))


__all__ = ["run_remote_world"]
