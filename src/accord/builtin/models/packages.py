"""Packages that are an extra, such as those for models: what is there, how to get the rest.

Cheap: nothing of them is imported.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from accord.builtin.models.providers import ModelChoice
from accord.machine import optional_packages
from accord.machine.own_command_line import interpreter

if TYPE_CHECKING:
    from accord.agent.turn import Turn

PACKAGE = "pydantic_ai"
EXTRA = "models"


def can_be_had() -> bool:
    """Whether models can be asked: the packages are there, or come with the first prompt."""
    return optional_packages.is_missing(EXTRA) or _are_installed()


def _are_installed() -> bool:
    try:
        return find_spec(PACKAGE) is not None
    except ValueError:
        return False


def support_words() -> str:
    """A sentence on what is there and what to do, for somebody who wants a model."""
    if optional_packages.is_missing(EXTRA):
        return "Model support is installed with the first prompt to a model."
    if _are_installed():
        return "Model support is installed."
    return f"Install model support: `{install_command()}`."


def missing_words(choice: ModelChoice) -> str:
    """What to do where a model was chosen and the packages for it are missing."""
    return (
        f"{choice.group} needs packages that are not installed. Run `{install_command()}`,"
        " then start the agent again."
    )


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


def install_command() -> str:
    """The one command that installs them where this program is installed."""
    requirement = shlex.quote(_requirement())
    if os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"uv tool install {requirement}"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx install --force {requirement}"
    python = shlex.quote(interpreter())
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {requirement}"
    return f"{python} -m pip install {requirement}"


def _requirement() -> str:
    """The requirement for this program with the extra; its source folder if it has one."""
    try:
        written = metadata.distribution("accord").read_text("direct_url.json")
        url = json.loads(written or "{}")["url"]
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return f"accord[{EXTRA}]"
    parts = urlsplit(str(url))
    folder = unquote(parts.path) if parts.scheme == "file" else ""
    return f"{folder if os.path.isdir(folder) else 'accord'}[{EXTRA}]"
