"""Packages that are installed in the middle of a conversation, because they were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.machine import optional_packages

if TYPE_CHECKING:
    from accord.agent.turn import Turn


async def provide_packages(turn: Turn, name: str) -> None:
    """Install a set of packages where it is missing, and show that as a tool call.

    Raises:
        ConfigError: it could not be installed.
    """
    if not optional_packages.is_missing(name):
        return
    title = f"Install the packages for {optional_packages.LABELS[name]} (only once)"
    async with turn.tool_call(title) as call:
        await optional_packages.install(name, call.show)
