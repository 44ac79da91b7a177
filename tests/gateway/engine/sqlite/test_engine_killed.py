"""kill -9 at any moment: what was acknowledged is there, without gaps, and the file is whole."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from accord.gateway.engine.engine_errors import Gap
from accord.gateway.engine.sqlite import SqliteEngine
from tests.gateway.engine.worlds import all_events
from tests.hang_limit import HANG_SECONDS

KILLS = 20
GATEWAY = Path(__file__).with_name("doomed_gateway.py")


@pytest.fixture
def gateways() -> Generator[subprocess.Popen[str]]:
    """The program that forks gateways."""
    with subprocess.Popen(
        [sys.executable, str(GATEWAY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(HANG_SECONDS)


def killed_gateway(
    gateways: subprocess.Popen[str], path: Path, dice: random.Random
) -> list[tuple[str, int, int]]:
    """Let a gateway write, kill it, and return what it had acknowledged by then."""
    assert gateways.stdin is not None
    assert gateways.stdout is not None
    gateways.stdin.write(f"{path} {dice.randrange(10**9)}\n")
    gateways.stdin.flush()
    pid = 0
    said: list[str] = []
    lives = dice.choice((0, 1, 7, 20, 80))
    # The child may speak before its parent has said who it is.
    while not pid or len(said) < lives:
        line = gateways.stdout.readline().strip()
        assert line, "the gateways' parent has ended"
        if line.startswith("pid "):
            pid = int(line.split()[1])
        else:
            assert line != "dead", said
            said.append(line)
    os.kill(pid, signal.SIGKILL)
    while (line := gateways.stdout.readline().strip()) != "dead":
        said.append(line)
    return [(name, int(seq), int(epoch)) for name, seq, epoch in map(str.split, said)]


async def check(path: Path, acknowledged: dict[str, int], epochs: dict[str, int]) -> None:
    """Read every log with a new engine."""
    async with SqliteEngine(path) as engine:
        node = await engine.enter("reader")
        for session, seq in acknowledged.items():
            state = await engine.log_state(session)
            assert state.last >= seq, session
            events = await all_events(engine, session, state.first - 1)
            # The number in the frame is the one that its writer expected.
            assert all(int(event.frame.split(b" ")[0]) == event.seq for event in events)
            written = [event.epoch for event in events]
            assert written == sorted(written)
            if state.first > 1:
                assert state.snapshot_seq is not None
                assert state.snapshot_seq >= state.first - 1
                part = await engine.snapshot_after(session, state.snapshot_seq - 1)
                assert part is not None
                assert part.seq == state.snapshot_seq
                assert part.data == b"%d" % part.seq
                with pytest.raises(Gap):
                    await engine.read_after(session, 0)
            lease = await engine.own(session, node)
            assert lease.epoch > epochs[session]
            assert lease.last == state.last


def test_what_was_acknowledged_survives_twenty_kills(
    tmp_path: Path, gateways: subprocess.Popen[str]
) -> None:
    """Issue 17: 20 kills, 0 acknowledged events lost; the leases of the dead are void at once."""
    path = tmp_path / "g" / "gateway.sqlite3"
    dice = random.Random(17)
    acknowledged: dict[str, int] = {}
    epochs: dict[str, int] = {}
    for _ in range(KILLS):
        for session, seq, epoch in killed_gateway(gateways, path, dice):
            assert seq > acknowledged.get(session, 0)
            assert epoch >= epochs.get(session, 0)
            acknowledged[session], epochs[session] = seq, epoch
        anyio.run(check, path, acknowledged, epochs)
    assert sum(acknowledged.values()) > KILLS
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
