"""kill -9 of a gateway or of an agent in mid-turn: `python -m tests.gateway.durability.kills`.

Clients of both versions talk to agents of both versions over WebSocket and HTTP.  Whenever they
have been shown a random number of updates, something is killed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from accord.errors import ConnectFailed, ConnectionLost, RequestFailed
from tests.gateway.durability.gateway_process import GatewayProcess, kill_process
from tests.gateway.durability.talkers import Talker
from tests.hang_limit import HANG_SECONDS

UPDATES_MAX = 300
COUNT_MAX = 60
WAYS = (
    ("ws", 1, "v1"),
    ("http", 2, "v2"),
    ("ws", 2, "v1"),
    ("http", 1, "v2"),
)
"""The scheme, the version of the client, and the agent with its version."""


@dataclass
class Kills:
    """What was done, and what came of it."""

    gateways: int = 0
    agents: int = 0
    prompts: int = 0
    failed: int = 0


class Chaos:
    """Kills something whenever enough updates were seen, while people talk on."""

    def __init__(self, gateway: GatewayProcess, dice: random.Random) -> None:
        self.gateway = gateway
        self.dice = dice
        self.kills = Kills()
        self.talkers = [
            Talker(f"t{number}", *way, self.chunk_seen) for number, way in enumerate(WAYS)
        ]
        self._left = 0
        self._due = anyio.Event()
        self._is_over = False

    def chunk_seen(self) -> None:
        """Count an update that somebody was shown."""
        self._left -= 1
        if self._left == 0:
            self._due.set()

    async def run(self, kills: int) -> None:
        """Kill so often, and look once more at everything at the end."""
        await self.gateway.start()
        async with anyio.create_task_group() as tasks:
            for talker in self.talkers:
                tasks.start_soon(self._talk, talker)
            for _ in range(kills):
                self._left, self._due = self.dice.randint(1, UPDATES_MAX), anyio.Event()
                with anyio.fail_after(HANG_SECONDS):
                    await self._due.wait()
                await (self._kill_agent() if self.dice.random() < 0.5 else self._kill_gateway())
            self._is_over = True
        await self._kill_gateway()
        await self._look_back()

    async def _kill_agent(self) -> None:
        leaders = self.gateway.leaders()
        if leaders:
            pid = self.dice.choice(leaders)
            family = {one for one in self.gateway.processes() if _parent(one) == pid}
            kill_process(pid)
            self.kills.agents += 1
            await self.gateway.no_process_is_left({pid, *family})

    async def _kill_gateway(self) -> None:
        processes = set(self.gateway.processes())
        await self.gateway.kill()
        self.kills.gateways += 1
        # One more look: an agent may have been starting.
        await self.gateway.no_process_is_left(processes | set(self.gateway.processes()))
        prompts = self.gateway.prompts()
        assert len(prompts) == len(set(prompts)), "a prompt ran twice"
        await self.gateway.start()

    async def _talk(self, talker: Talker) -> None:
        while not self._is_over:
            try:
                await self._talk_until_lost(talker)
            except (ConnectionLost, ConnectFailed):
                # The gateway is away for a moment.
                await anyio.sleep(0.01)

    async def _talk_until_lost(self, talker: Talker) -> None:
        async with talker.connected(self.gateway.port) as (_, session):
            talker.look(session)
            talker.check_remarks(set(self.gateway.prompts()))
            while not self._is_over:
                asked = await talker.ask(session, self.dice.randint(1, COUNT_MAX))
                self.kills.prompts += 1
                if asked.error is None:
                    continue
                self.kills.failed += 1
                if isinstance(asked.error, ConnectionLost):
                    return
                assert isinstance(asked.error, RequestFailed), repr(asked.error)
                assert "agent is gone" in str(asked.error), str(asked.error)

    async def _look_back(self) -> None:
        """In a last life: everything that was ever shown is there."""
        for talker in self.talkers:
            async with talker.connected(self.gateway.port) as (_, session):
                talker.look(session)
                talker.check_remarks(set(self.gateway.prompts()))


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


async def kill_in_mid_turn(kills: int, *, seed: int) -> Kills:
    """Kill so often; what must not happen is an AssertionError."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        gateway = GatewayProcess(Path(folder))
        chaos = Chaos(gateway, dice)
        try:
            await chaos.run(kills)
        finally:
            with anyio.CancelScope(shield=True):
                await gateway.kill()
    return chaos.kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kills = anyio.run(partial(kill_in_mid_turn, given.kills, seed=given.seed))
    print(
        f"{kills.gateways} gateways and {kills.agents} agents killed in mid-turn: {kills.prompts}"
        f" prompts, {kills.failed} of them ended with one error; 0 acknowledged events lost,"
        " 0 orphans, 0 prompts ran twice"
    )


if __name__ == "__main__":
    main()
