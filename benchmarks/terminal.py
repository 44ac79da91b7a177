"""Whether the terminal client is as quick as it must be: `python -m benchmarks.terminal`.

`accord chat` runs in a pseudo-terminal of 120 x 40, with an agent that is a program of its own.
CPU is what the process of the client used, which the kernel counts; times run from the byte that is
written into the terminal until what it must lead to comes out of it.  Nothing has another priority
than usual: what else the machine does meanwhile makes the times longer, and is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.terminal_agent import END, PIECE
from benchmarks.terminal_process import (
    Program,
    children,
    cpu_seconds,
    resident_mb,
    waited_seconds,
)

CPU_SECONDS_MAX = 1.0
KEY_MS_MAX = 50.0
OPEN_SECONDS_MAX = 2.0
RESIDENT_MB_MAX = 150.0
PAGE_RATIO_MAX = 1.5
START_CPU_MAX = 0.7
STOP_MS_MAX = 200.0

PIECES = 5_000
RATE = 500
UPDATES = 20_000
SHORT_UPDATES = 2_000
JUMPS = 5
# Letters that are in no text, each of which is typed once.
LETTERS = "абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ"
PAGE_UP, PAGE_DOWN, HOME, LAST = "\x1b[5~", "\x1b[6~", "\x1b[1~", "\x1b[4~"
ESCAPE, ENTER, TAB = "\x1b", "\r", "\t"
# What the client shows.
PROMPT, READY, STOPPED = "❯", "Ready", "You stopped the turn"

ROOT = Path(__file__).resolve().parent.parent
AGENT = [sys.executable, "-m", "benchmarks.terminal_agent"]

Figures = dict[str, float]


class Chat(Program):
    """`accord chat` with these words, at home in a fresh folder."""

    def __init__(self, folder: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        home = Path(tempfile.mkdtemp(dir=folder))
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        super().__init__(
            [sys.executable, "-m", "accord", "chat", *words],
            home,
            {
                "HOME": str(home),
                "ACCORD_CONFIG_DIR": str(home / "config"),
                "ACCORD_STATE_DIR": str(home / "state"),
                "PYTHONPATH": paths,
                **(env or {}),
            },
        )

    def say(self, text: str) -> float:
        """Type this, and send it when it is seen; when that was."""
        self.press(text)
        self.wait(text[-8:])
        self.drain()
        return self.press(ENTER)


def start(folder: Path) -> Figures:
    """Until there is something to type into, and until the built-in agent is ready."""
    with Chat(folder) as chat:
        painted = chat.wait(PROMPT)
        paint_cpu = chat.cpu
        ready = chat.wait(READY)
        figures = {
            "paint_cpu": paint_cpu,
            "paint": painted - chat.began,
            "ready_cpu": chat.cpu,
            "ready": ready - chat.began,
            "agent_cpu": sum(map(cpu_seconds, children(chat.pid))),
        }
        chat.drain(0.5)
        figures["calm_cpu"] = chat.cpu
        figures["resident_mb"] = resident_mb(chat.pid)
    return figures


def flat_out(folder: Path) -> Figures:
    """A long answer, as quickly as the agent can send it."""
    with Chat(folder, "--", *AGENT) as chat:
        chat.wait(READY)
        chat.drain(0.5)
        before, drawn = chat.cpu, chat.drawn_bytes
        began = chat.say(f"stream {PIECES} 0")
        done = chat.wait(END, READY)
        chat.drain()
        return {
            "cpu": chat.cpu - before,
            "wall": done - began,
            "drawn_kb": (chat.drawn_bytes - drawn) / 1e3,
        }


def keys(folder: Path) -> tuple[list[float], list[float], float]:
    """How long each key takes until it is drawn while an answer comes, how long of that the client
    waited for a processor, and CPU in a second of it."""
    with Chat(folder, "--", *AGENT) as chat:
        chat.wait(READY)
        chat.drain(0.5)
        began = chat.say(f"stream {PIECES} {RATE}")
        before, since = chat.cpu, chat.wait("Working")
        times: list[float] = []
        waits: list[float] = []
        for letter in LETTERS:
            if perf_counter() - began > PIECES / RATE - 0.5:
                # On a slow machine the answer is nearly over.
                break
            waited = waited_seconds(chat.pid)
            pressed = chat.press(letter)
            wanted = letter.encode()
            while wanted not in chat.drawn:
                chat.read(0.2)
                if perf_counter() - pressed > 5:
                    raise SystemExit(f"{letter} was never drawn, but {chat.shown!r}")
            times.append(perf_counter() - pressed)
            waits.append(waited_seconds(chat.pid) - waited)
            # Not in step with what is drawn.
            pause = perf_counter() + 0.08 + 0.0013 * len(times)
            while perf_counter() < pause:
                chat.read(pause - perf_counter())
        spent = (chat.cpu - before) / (perf_counter() - since)
    return times, waits, spent


def opened(folder: Path, updates: int, pages: int) -> Figures:
    """A session that the agent has is opened, then looked through."""
    told = folder / f"began-{updates}"
    env = {"BENCH_UPDATES": str(updates), "BENCH_BEGAN": str(told)}
    with Chat(folder, "--session", "long", "--", *AGENT, env=env) as chat:
        done = chat.wait(END, READY)
        began = json.loads(told.read_text())
        assert began["client"] == chat.pid, "somebody stands between the client and the agent"
        last = chat.drain()
        figures = {
            "wall": done - began["clock"],
            "settled": last - began["clock"],
            "cpu": chat.cpu - began["cpu"],
            "whole_cpu": chat.cpu,
            "resident_mb": resident_mb(chat.pid),
        }
        for name, key in (("up", PAGE_UP), ("down", PAGE_DOWN)):
            figures |= turned(chat, name, key, pages)
        # The prompt has these keys while it has the cursor.
        chat.press(TAB)
        chat.drain()
        figures |= jumped(chat)
        figures["left_mb"] = resident_mb(chat.pid)
    return figures


def turned(chat: Chat, name: str, key: str, pages: int) -> Figures:
    """So many pages, or as many as there are: the time and the CPU of each."""
    times: list[float] = []
    before = chat.cpu
    for _ in range(pages):
        pressed = chat.press(key)
        if not chat.read(1):
            break
        times.append(chat.drain(0.04) - pressed)
    cpu = (chat.cpu - before) / len(times)
    return {f"{name}_cpu_ms": cpu * 1e3, f"{name}_ms": median(times) * 1e3}


def jumped(chat: Chat) -> Figures:
    """To the first entry and to the last one."""
    times: list[float] = []
    before = chat.cpu
    for _ in range(JUMPS):
        for key, seen in ((HOME, "part_1.py"), (LAST, END)):
            pressed = chat.press(key)
            times.append(chat.wait(seen) - pressed)
            chat.drain(0.04)
    cpu = (chat.cpu - before) / len(times)
    return {"jump_cpu_ms": cpu * 1e3, "jump_ms": median(times) * 1e3}


def stopped(folder: Path) -> Figures:
    """The built-in agent runs `sleep 60` and is stopped by a key."""
    with Chat(folder) as chat:
        chat.wait(READY)
        chat.drain(0.5)
        chat.say("$ sleep 60")
        chat.wait("asks for permission", "Always reject")
        # Keys that come too soon answer nothing.
        chat.drain(1)
        chat.press("1")
        chat.wait("running")
        chat.drain(0.3)
        pressed = chat.press(ESCAPE)
        marked = chat.wait("cancelled")
        done = chat.wait(STOPPED)
    return {"marked": (marked - pressed) * 1e3, "stopped": (done - pressed) * 1e3}


def middle(found: list[Figures]) -> Figures:
    """The median of each figure."""
    return {name: median(one[name] for one in found) for name in found[0]}


def p95(times: list[float]) -> float:
    """The time that 95 of 100 keep, in ms."""
    return sorted(times)[len(times) * 95 // 100] * 1e3


def verdict(what: str, found: float, bound: float, unit: str) -> bool:
    """Print one row; whether the bound is kept."""
    kept = found <= bound
    print(f"{what:52}{found:>8.2f} {unit:2} <= {bound:<5g} {'kept' if kept else 'NOT KEPT'}")
    return kept


def judge_start(folder: Path, turns: int) -> list[bool]:
    found = middle([start(folder) for _ in range(turns)])
    kept = [verdict("start until the prompt is drawn, CPU", found["paint_cpu"], START_CPU_MAX, "s")]
    print(
        f"    {found['paint']:.2f} s by the clock; ready: {found['ready_cpu']:.2f} s of CPU,"
        f" {found['ready']:.2f} s by the clock, the agent {found['agent_cpu']:.2f} s of CPU beside"
        f" it; calm: {found['calm_cpu']:.2f} s, {found['resident_mb']:.0f} MB"
    )
    return kept


def judge_stream(folder: Path, turns: int) -> list[bool]:
    flat = middle([flat_out(folder) for _ in range(turns)])
    what = f"{PIECES:,} pieces ({PIECES * PIECE // 1000} kB of Markdown) flat out, CPU"
    kept = [verdict(what, flat["cpu"], CPU_SECONDS_MAX, "s")]
    print(f"    {flat['wall']:.2f} s by the clock; {flat['drawn_kb']:.0f} kB drawn")
    typed = [keys(folder) for _ in range(turns)]
    times = [time for found, _, _ in typed for time in found]
    without = [
        time - wait for found, waits, _ in typed for time, wait in zip(found, waits, strict=True)
    ]
    what = f"a key while {RATE} pieces come a second, p95"
    kept.append(verdict(what, p95(times), KEY_MS_MAX, "ms"))
    print(
        f"    {len(times)} keys; the median {median(times) * 1e3:.1f} ms, the slowest"
        f" {max(times) * 1e3:.0f} ms; p95 without the time that others had the processors:"
        f" {p95(without):.1f} ms; {median(one for _, _, one in typed):.2f} s of CPU in a second"
    )
    return kept


def judge_session(folder: Path, turns: int, pages: int) -> list[bool]:
    short = opened(folder, SHORT_UPDATES, pages)
    long = middle([opened(folder, UPDATES, pages) for _ in range(turns)])
    what = f"a session of {UPDATES:,} updates opens in"
    # By the processor: what a page costs, not how long the machine was busy with other things.
    ratio = max(
        (long[f"{one}_cpu_ms"] + 1) / (short[f"{one}_cpu_ms"] + 1) for one in ("up", "down", "jump")
    )
    kept = [
        verdict(what, long["wall"], OPEN_SECONDS_MAX, "s"),
        verdict("memory with it, looked through", long["left_mb"], RESIDENT_MB_MAX, "MB"),
        verdict("a page, beside one in a short session", ratio, PAGE_RATIO_MAX, "x"),
    ]
    print(
        f"    opened with {long['cpu']:.2f} s of CPU, {long['resident_mb']:.0f} MB then;"
        f" settled after {long['settled']:.2f} s; a short one {short['wall']:.2f} s,"
        f" {short['cpu']:.2f} s of CPU, {short['resident_mb']:.0f} MB"
    )
    for name, one in (("short", short), ("long", long)):
        print(
            f"    {name}: a page up {one['up_ms']:.0f} ms ({one['up_cpu_ms']:.0f} of CPU), down"
            f" {one['down_ms']:.0f} ({one['down_cpu_ms']:.0f}), to the start or the end"
            f" {one['jump_ms']:.0f} ({one['jump_cpu_ms']:.0f})"
        )
    return kept


def judge_stop(folder: Path, turns: int) -> list[bool]:
    found = middle([stopped(folder) for _ in range(turns)])
    kept = [verdict("stop, until `sleep 60` is stopped", found["stopped"], STOP_MS_MAX, "ms")]
    print(f"    the call is marked after {found['marked']:.0f} ms")
    return kept


def busy_seconds() -> float:
    """What all processes have used of the processors since the machine was started."""
    user, nice, system, *_ = Path("/proc/stat").read_text().split()[1:]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--only", default="start,stream,session,stop")
    given = parser.parse_args()
    judges: dict[str, Callable[[Path], list[bool]]] = {
        "start": lambda folder: judge_start(folder, given.turns),
        "stream": lambda folder: judge_stream(folder, given.turns),
        "session": lambda folder: judge_session(folder, given.turns, given.pages),
        "stop": lambda folder: judge_stop(folder, given.turns),
    }
    kept: list[bool] = []
    began, busy, own = perf_counter(), busy_seconds(), sum(os.times()[:4])
    with tempfile.TemporaryDirectory() as name:
        for one in given.only.split(","):
            kept += judges[one](Path(name))
    # With what clients and agents used, who all have ended.
    others = busy_seconds() - busy - (sum(os.times()[:4]) - own)
    print(
        f"{os.cpu_count()} cores, on which others used {others / (perf_counter() - began):.2f} s in"
        f" a second; load {os.getloadavg()[0]:.1f}"
    )
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
