"""Validates values against JSON Schemas of MCP servers, within bounds.

A third-party schema can keep a validator busy for years, with a backtracking expression or
references that branch again and again.  Python cannot interrupt that, and all sessions would wait.
So a schema that could do this is applied in a process of its own, with limits on time and memory;
that costs a third of a second, so plain schemas are applied here.

It must not know servers or calls.

What always holds
    * For any schema and value, `problem` returns within `WALL_SECONDS_MAX`, and the event
      loop keeps running.
    * A value that cannot be checked within the bounds is invalid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio

from accord.errors import SpawnFailed
from accord.machine.own_command_line import import_path, own_code

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

CPU_SECONDS_MAX = 2
"""CPU time of one check, including the import of the validator."""

WALL_SECONDS_MAX = 15.0
"""How long to wait for a check on a busy machine."""

MEMORY_BYTES_MAX = 1 << 30
PLAIN_PARTS_MAX = 2_000
"""The most parts of a schema that is applied in this process."""

# Without these, a schema is a tree that is walked once for each part of the value.
_COSTLY = frozenset(
    {
        *("pattern", "patternProperties", "uniqueItems", "unevaluatedItems"),
        *("unevaluatedProperties", "$ref", "$dynamicRef", "$recursiveRef"),
    }
)

_PROGRAM = f"""
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS_MAX}, {CPU_SECONDS_MAX}))
    resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES_MAX}, {MEMORY_BYTES_MAX}))
except (ImportError, ValueError, OSError):
    pass
path, schema, value = json.load(sys.stdin)
sys.path[:] = path
from jsonschema import SchemaError
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing import Registry
try:
    kind = validator_for(schema)
    kind.check_schema(schema)
    error = best_match(kind(schema, registry=Registry()).iter_errors(value))
except SchemaError as wrong:
    said = "the schema is invalid: " + wrong.message
except Exception as wrong:
    said = "the schema cannot be applied: " + (str(wrong) or type(wrong).__name__)
else:
    place = "" if error is None else "".join("[" + repr(one) + "]" for one in error.absolute_path)
    said = "" if error is None else place + (": " if place else "") + error.message
sys.stdout.write(json.dumps(said[:500]))
"""


async def problem(schema: Any, value: Any) -> str | None:
    """Return why a value does not match a schema; None if it does."""
    task = json.dumps([import_path(), schema, value]).encode()
    with anyio.move_on_after(WALL_SECONDS_MAX):
        try:
            done = await anyio.run_process(own_code(_PROGRAM), input=task, check=False)
            return json.loads(done.stdout) or None
        except (OSError, ValueError, SpawnFailed):
            # A limit ended it, or it never started.
            pass
    return "it cannot be checked against its schema within the limits"


def is_plain(schema: Any) -> bool:
    """Whether applying a schema takes no longer than reading it."""
    parts, waiting = 0, [schema]
    while waiting:
        parts += 1
        one = waiting.pop()
        if isinstance(one, dict):
            if _COSTLY & one.keys():
                return False
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        if parts > PLAIN_PARTS_MAX:
            return False
    return True


@cache
def session_class() -> type[ClientSession]:
    """Return the MCP package's session class with this validation.

    It is created on first use, because the package is slow to import.
    """
    from mcp.client.session import ClientSession

    class CheckedSession(ClientSession):
        """A session that knows the output schemas of the listed tools."""

        output_schemas: Mapping[str, Any]

        async def validate_tool_result(self, name: str, result: Any) -> None:
            """Validate a result, as the package does; raises RuntimeError if it is invalid."""
            schema = getattr(self, "output_schemas", {}).get(name)
            given = result.structured_content
            if schema is None or given is None or is_plain(schema):
                await super().validate_tool_result(name, result)
                return
            wrong = await problem(schema, given)
            if wrong is not None:
                raise RuntimeError(f"Invalid structured content returned by tool {name}: {wrong}")

    return CheckedSession
