"""Run worlds: `python -m tests.simulation --worlds 10000 --seed 1`."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.simulation.gateway.plan import gateway_plan_of
from tests.simulation.gateway.planted_bugs import GATEWAY_PLANTED
from tests.simulation.gateway.world import run_gateway_world
from tests.simulation.plan import plan_of
from tests.simulation.planted_bugs import PLANTED, Plant
from tests.simulation.remote.plan import remote_plan_of
from tests.simulation.remote.planted_bugs import REMOTE_PLANTED
from tests.simulation.remote.world import run_remote_world
from tests.simulation.world import Verdict, run_world

Run = Callable[[int], Verdict]


class Kind(NamedTuple):
    """One kind of worlds."""

    run: Run
    plan: Callable[[int], object]
    planted: Mapping[str, Plant]


KINDS = {
    "remote": Kind(run_remote_world, remote_plan_of, REMOTE_PLANTED),
    "gateway": Kind(run_gateway_world, gateway_plan_of, GATEWAY_PLANTED),
    "local": Kind(run_world, plan_of, PLANTED),
}


def search(planted: Mapping[str, Plant], run: Run, first: int, worlds: int) -> int:
    """Search for every planted bug again, print the seed that finds it, and count those missed."""
    missed = 0
    for name, plant in planted.items():
        with plant():
            verdicts = (run(seed) for seed in range(first, first + worlds))
            found = next((verdict for verdict in verdicts if verdict.violations), None)
        missed += found is None
        what = "not found" if found is None else f"seed {found.seed}: {found.violations[0][:100]}"
        print(f"{name}: {what}", flush=True)
    return missed


def main() -> int:
    """Run them, tell those that fail, and return how the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=2000, help="how many, default 2000")
    parser.add_argument("--seed", type=int, default=1, help="the first seed, default 1")
    parser.add_argument("--remote", action="store_true", help="worlds over HTTP and WebSocket")
    parser.add_argument("--gateway", action="store_true", help="worlds with a gateway in them")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a failure")
    parser.add_argument("--show", action="store_true", help="show the plan of each world")
    parser.add_argument("--planted", action="store_true", help="search for the planted bugs")
    chosen = parser.parse_args()
    kind = "gateway" if chosen.gateway else "remote" if chosen.remote else "local"
    if chosen.planted:
        kinds = KINDS if kind == "local" else {kind: KINDS[kind]}
        found = [search(one.planted, one.run, chosen.seed, chosen.worlds) for one in kinds.values()]
        return 1 if any(found) else 0
    run, plan = KINDS[kind].run, KINDS[kind].plan
    started = time.monotonic()
    failed = frames = prompts = 0
    for seed in range(chosen.seed, chosen.seed + chosen.worlds):
        if chosen.show:
            print(plan(seed))
        verdict = run(seed)
        frames += verdict.frames
        prompts += verdict.prompts
        if chosen.show:
            print(verdict)
        if verdict.violations:
            failed += 1
            for violation in verdict.violations:
                print(f"seed {seed}: {violation}")
            print(f"again: {verdict.command}", flush=True)
            if not chosen.keep_going:
                break
    seconds = time.monotonic() - started
    ran = seed - chosen.seed + 1
    print(
        f"{ran} worlds, {prompts} prompts, {frames} frames, {failed} failed,"
        f" {seconds:.1f} s ({1000 * seconds / ran:.1f} ms each)"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
