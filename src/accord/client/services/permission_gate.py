"""The one gate that every read, write and command of an agent passes before a service does it.

Agents need not ask for permission first.  An approval of the tool call covers the operation, else
the user is asked, and without a user the operation is refused.

What always holds
    * Nobody is asked about a path outside the session's folders: it is refused before.
    * The permissions decide about the place that the path leads to, and the service writes at that
      very place, also when links on the way change meanwhile.
    * Permissions that cannot decide about an operation do not allow it; reads are free unless the
      permissions object says otherwise.
"""

from collections.abc import Mapping, Sequence

from accord.client.permissions.command_patterns import terminal_line
from accord.client.services.service_interfaces import (
    DecidesReads,
    DecidesServices,
    LocatesFiles,
    WritesFiles,
    result_of,
)
from accord.client.services.services import Services
from accord.errors import RequestError

# Characters of a refused command that the agent is told.
LINE_SHOWN_MAX = 500


class PermissionGate:
    """Asks the permissions of one connection, which are known once the handshake is done.

    Every method raises `RequestError` to refuse.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        permissions = services.permissions
        self._reads = permissions if isinstance(permissions, DecidesReads) else None

    def reads_freely(self, session_id: str) -> bool:
        """Whether no rule concerns reading, so that `check_read` need not be awaited."""
        return self._reads is not None and self._reads.reads_freely(session_id)

    async def check_read(self, session_id: str, path: str) -> None:
        """Refuse to read a file that may not be read."""
        if self._reads is not None and not await self._reads.may_read(session_id, path):
            raise RequestError.permission_denied(f"reading {path} is not allowed")

    async def check_write(self, session_id: str, path: str, content: str) -> str | None:
        """The place where the file may be written, to be given to the service as `at`.

        None where the service has no places: it stores files in its own way.
        """
        files, permissions = self._services.files, self._services.permissions
        at: str | None = None
        if isinstance(files, LocatesFiles):
            at = await result_of(files.locate(session_id, path))
        if not isinstance(permissions, DecidesServices) or not await permissions.may_write(
            session_id, path, at=at, content=content
        ):
            raise RequestError.permission_denied(f"writing {path} is not allowed")
        return at

    async def write_text(self, session_id: str, path: str, content: str) -> None:
        """Write a file if it may be written."""
        at = await self.check_write(session_id, path, content)
        await self.write_at(session_id, path, content, at)

    async def write_at(self, session_id: str, path: str, content: str, at: str | None) -> None:
        """Write a file where `check_write` said that it may be written."""
        files = self._services.files
        if isinstance(files, LocatesFiles):
            await result_of(files.write_text(session_id, path, content, at=at))
        elif isinstance(files, WritesFiles):
            await result_of(files.write_text(session_id, path, content))

    async def check_command(
        self,
        session_id: str,
        command: str,
        args: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
    ) -> None:
        """Refuse to run a command that may not run, and say which rule refuses it."""
        permissions = self._services.permissions
        why = None
        if isinstance(permissions, DecidesServices):
            if await permissions.may_run(session_id, command, args, cwd, env):
                return
            why = permissions.why_refused(session_id, command, args, cwd, env)
        line = terminal_line(command, args)
        shown = line if len(line) <= LINE_SHOWN_MAX else line[:LINE_SHOWN_MAX] + "…"
        because = "" if why is None else f"; {why}"
        raise RequestError.permission_denied(f"running {shown} is not allowed{because}")
