"""Asks node whether a text is JavaScript.  It parses what it is given and runs none of it.

What always holds
    * The text comes by standard input, from a folder that is not the project, and without the
      variables by which node would load something first.
    * A check ends, and so does the whole search for a repair.
"""

from __future__ import annotations

import os
import re
import tempfile
from subprocess import DEVNULL, PIPE

import anyio

from accord.builtin.offline.repairs.javascript.syntax_errors import (
    ScriptProblem,
    candidates,
    problem_in,
)
from accord.builtin.offline.repairs.name_replacements import Repair
from accord.machine.processes.program_lookup import find_program

CHECK_SECONDS_MAX = 10.0
SEARCH_SECONDS_MAX = 60.0
"""How long all checks of one error may take together."""

REPAIRS_MAX = 3
MORE_CHECKS = 20
"""Candidates that are checked though one is found; more than one may parse."""

_MODULE = re.compile(r"^\s*(?:import\s+[\w{*'\"]|export\s)", re.MULTILINE)


def find_node() -> str | None:
    """The program, if there is one."""
    return find_program("node")


async def script_problem(node: str, path: str, text: str) -> ScriptProblem | None:
    """What node finds wrong with a text; None where it is well, or where node does not say."""
    is_module = path.endswith(".mjs") or (not path.endswith(".cjs") and _MODULE.search(text))
    command = [node, "--check", *(["--input-type=module"] if is_module else []), "-"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("NODE_")}
    with anyio.move_on_after(CHECK_SECONDS_MAX):
        try:
            done = await anyio.run_process(
                command,
                input=text.encode("utf-8", "replace"),
                stdout=DEVNULL,
                stderr=PIPE,
                check=False,
                cwd=tempfile.gettempdir(),
                env=env,
            )
        except OSError:
            return None
        if done.returncode == 0:
            return None
        printed = (done.stderr or b"").decode("utf-8", "replace")
        return problem_in(printed) or ScriptProblem(1, "it cannot be parsed")
    return ScriptProblem(1, "node did not answer in time")


async def script_repairs(path: str, text: str) -> list[Repair]:
    """The repairs of a script that does not parse: those of the candidates that node takes."""
    node = find_node()
    problem = None if node is None else await script_problem(node, path, text)
    found: list[Repair] = []
    if node is None or problem is None:
        return found
    with anyio.move_on_after(SEARCH_SECONDS_MAX):
        for index, (changed, what) in enumerate(candidates(text, problem)):
            if len(found) == REPAIRS_MAX or (found and index > MORE_CHECKS):
                break
            why = f"{problem.said} in line {problem.line}: {what}."
            if await script_problem(node, path, changed) is None:
                score = 0.97 - len(found) / 100
                found.append(Repair(path, changed, problem.line, why, score))
    return found
