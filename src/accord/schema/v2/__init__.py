"""Every wire type of ACP v2 in the state of November 2026, stable and unstable.

A type or field that only the unstable schema has is marked (`__unstable__`, `U[...]`); nothing of
that kind is sent unless the program asked for it.  v2 imports nothing of v1 and the reverse.
What v2 had in August 2026 and lost is not here: `next_edit`, `next_edit_capabilities` and
`documents` are imported by who needs them.

Each module lists what it defines, and this one adds the lists up.  The tables (`methods`,
`vocabulary`) are imported by who walks them: a program that only talks has no use for them.
"""

# ruff: noqa: F403
from accord.schema.v2 import (
    auth,
    cancel,
    capabilities,
    commands,
    config,
    content,
    elicitation,
    errors,
    identifiers,
    initialize,
    mcp,
    permissions,
    plans,
    prompt,
    providers,
    proxy,
    sessions,
    state,
    subagents,
    terminals,
    tool_calls,
    updates,
)
from accord.schema.v2.auth import *
from accord.schema.v2.cancel import *
from accord.schema.v2.capabilities import *
from accord.schema.v2.commands import *
from accord.schema.v2.config import *
from accord.schema.v2.content import *
from accord.schema.v2.elicitation import *
from accord.schema.v2.errors import *
from accord.schema.v2.identifiers import *
from accord.schema.v2.initialize import *
from accord.schema.v2.mcp import *
from accord.schema.v2.permissions import *
from accord.schema.v2.plans import *
from accord.schema.v2.prompt import *
from accord.schema.v2.providers import *
from accord.schema.v2.proxy import *
from accord.schema.v2.sessions import *
from accord.schema.v2.state import *
from accord.schema.v2.subagents import *
from accord.schema.v2.terminals import *
from accord.schema.v2.tool_calls import *
from accord.schema.v2.updates import *

__all__: list[str] = []
__all__ += auth.__all__
__all__ += cancel.__all__
__all__ += capabilities.__all__
__all__ += commands.__all__
__all__ += config.__all__
__all__ += content.__all__
__all__ += elicitation.__all__
__all__ += errors.__all__
__all__ += identifiers.__all__
__all__ += initialize.__all__
__all__ += mcp.__all__
__all__ += permissions.__all__
__all__ += plans.__all__
__all__ += prompt.__all__
__all__ += providers.__all__
__all__ += proxy.__all__
__all__ += sessions.__all__
__all__ += state.__all__
__all__ += subagents.__all__
__all__ += terminals.__all__
__all__ += tool_calls.__all__
__all__ += updates.__all__
