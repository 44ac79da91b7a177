"""Notifications at the top of the screen, and work whose failure is shown in one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.notifications import SeverityLevel

from accord.errors import AccordError
from accord.machine.console.control_characters import visible

NOTIFICATION_SECONDS = 6.0


def notify(app: App[Any], text: str, severity: SeverityLevel = "information") -> None:
    """Show a sentence for a moment, with the control characters in it made visible."""
    app.notify(visible(text), severity=severity, markup=False, timeout=NOTIFICATION_SECONDS)


def run_in_background(app: App[Any], work: Callable[[], Awaitable[object]]) -> None:
    """Run something that may take long, and show why if it fails."""

    async def run() -> None:
        try:
            await work()
        except (AccordError, OSError) as error:
            notify(app, str(error), "error")

    app.run_worker(run(), exit_on_error=False)
