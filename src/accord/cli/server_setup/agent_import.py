"""Imports the agent that the command line names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from accord.cli.usage_error import UsageError

if TYPE_CHECKING:
    from accord.agent import Agent


def import_agent(named: str, folder: str) -> Agent:
    """Import `module:variable` or `script.py:variable`; modules are also looked for in `folder`.

    Raises:
        UsageError: there is no such module, file or agent, or it starts an agent on its own.
            What the module itself raises is raised as it is.
    """
    from accord.agent import Agent

    place, colon, variable = named.rpartition(":")
    if not colon or not place or not variable.isidentifier():
        raise UsageError(f"name the agent as MODULE:AGENT or FILE.py:AGENT, not {named!r}")
    with _not_started(Agent, place):
        module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place, folder)
    found = getattr(module, variable, None)
    if isinstance(found, Agent):
        return found
    agents = sorted(name for name, value in vars(module).items() if isinstance(value, Agent))
    hint = f"; it has {', '.join(agents)}" if agents else "; it has no agent"
    raise UsageError(f"{place} has no agent named {variable!r}{hint}")


@contextmanager
def _not_started(agent_class: type[Agent], place: str) -> Generator[None]:
    """Refuse to start an agent on stdin and stdout: it would wait there, and nothing be served."""

    def refuse(agent: Agent) -> NoReturn:
        raise UsageError(
            f"{place} starts its agent as soon as it is imported; put that line below"
            ' `if __name__ == "__main__":`'
        )

    names = ("run", "serve_stdio")
    before = {name: getattr(agent_class, name) for name in names}
    for name in names:
        setattr(agent_class, name, refuse)
    try:
        yield
    finally:
        for name, method in before.items():
            setattr(agent_class, name, method)


def _from_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"{str(path)!r} does not exist")
    _look_in(str(path.resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _from_name(name: str, folder: str) -> Any:
    _look_in(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that is missing inside of the named one is a mistake of that one.
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise UsageError(
            f"there is no module {name!r} in this folder or among the installed packages"
        ) from None


def _look_in(folder: str) -> None:
    # Last: a file of the folder must not replace an installed module.
    if folder not in sys.path:
        sys.path.append(folder)
