"""Runs regular expressions of others where they can do no harm.

It must not know forms.

`re` cannot be interrupted and blocks the whole process, threads included.  So a pattern runs in a
process of its own with a bound on its time.  That costs some 20 ms and happens only when a person
has sent a form.
"""

from __future__ import annotations

import json

import anyio

from accord.errors import SpawnFailed
from accord.machine.own_command_line import own_code

PATTERN_CHARACTERS_MAX = 1_000
VALUE_CHARACTERS_MAX = 100_000
CPU_SECONDS_MAX = 1
"""CPU time of one match."""

WALL_SECONDS_MAX = 10.0
"""How long to wait for a match on a busy machine."""

# JSON Schema means: found anywhere.  ASCII, because `\\d` and `\\w` mean that in ECMA-262.
_PROGRAM = f"""
import json, re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS_MAX}, {CPU_SECONDS_MAX}))
except (ImportError, ValueError, OSError):
    pass
pattern, value = json.load(sys.stdin)
try:
    found = re.search(pattern, value, re.ASCII)
except (re.error, RecursionError, OverflowError):
    sys.exit(4)
sys.exit(0 if found else 3)
"""


async def found_in(pattern: str, value: str) -> bool | None:
    """Whether the pattern is found in the value; None when it cannot be told within the bound."""
    if len(pattern) > PATTERN_CHARACTERS_MAX or len(value) > VALUE_CHARACTERS_MAX:
        return None
    task = json.dumps([pattern, value]).encode()
    with anyio.move_on_after(WALL_SECONDS_MAX):
        try:
            done = await anyio.run_process(own_code(_PROGRAM), input=task, check=False)
        except (OSError, SpawnFailed):
            return None
        return {0: True, 3: False}.get(done.returncode)
    return None
