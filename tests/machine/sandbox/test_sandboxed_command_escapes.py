"""Attempts to get out of a sandbox, in both kinds, as root and as a normal user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accord.machine.sandbox.options import KINDS, SandboxKind
from tests.machine.sandbox.escapes import ESCAPES
from tests.machine.sandbox.world import World, new_world, users

ONE_AFTER_THE_OTHER = """
for name, code in attempts.items():
    child = os.fork()
    if child == 0:
        try:
            exec(code)
        except BaseException as error:
            print(name, repr(error), flush=True)
        else:
            print(name, 'succeeded', flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print("tried all")
"""


@pytest.fixture
def world() -> Iterator[World]:
    """A world of this user."""
    yield from new_world("self")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_fails(world: World, kind: SandboxKind, name: str) -> None:
    """Issue 17: the session's folder is writable, the rest is read-only or hidden."""
    escape = ESCAPES[name]
    done = world.python(kind, escape.code, **escape.options)
    damage = world.damage(done)
    if kind in escape.open_in:
        assert damage, f"this is prevented now; the documentation says otherwise: {done.out}"
    else:
        assert not damage, (damage, done.out)


@pytest.mark.skipif("nobody" not in users(), reason="only root can become another user")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("network", [True, False])
def test_escapes_of_a_normal_user_fail(kind: SandboxKind, network: bool) -> None:
    """Issue 17: the same without the rights of root."""
    attempts = {
        name: escape.code
        for name, escape in ESCAPES.items()
        if kind not in escape.open_in
        and escape.options.get("network", True) == network
        # All have one parent here, and it is inside.
        and name not in ("signal everybody", "signal the parent")
    }
    for world in new_world("nobody"):
        code = f"attempts = {attempts!r}\n{ONE_AFTER_THE_OTHER}"
        done = world.python(kind, code, network=network)
        assert "tried all" in done.out, done.out
        assert world.damage(done) == [], done.out
