"""ACP v1: every type and method, stable and unstable.

Unstable types say so by `__unstable__`, unstable fields by the mark `U`.  The names are those that
each file lists in its `__all__`.
"""

# ruff: noqa: F403
from accord.schema.v1 import (
    auth,
    cancel,
    capabilities,
    commands,
    config,
    content,
    documents,
    elicitation,
    errors,
    files,
    initialize,
    mcp,
    next_edit,
    next_edit_capabilities,
    permissions,
    plans,
    prompt,
    providers,
    proxy,
    sessions,
    subagents,
    terminals,
    tool_calls,
    updates,
)
from accord.schema.v1.auth import *
from accord.schema.v1.cancel import *
from accord.schema.v1.capabilities import *
from accord.schema.v1.commands import *
from accord.schema.v1.config import *
from accord.schema.v1.content import *
from accord.schema.v1.documents import *
from accord.schema.v1.elicitation import *
from accord.schema.v1.errors import *
from accord.schema.v1.files import *
from accord.schema.v1.initialize import *
from accord.schema.v1.mcp import *
from accord.schema.v1.next_edit import *
from accord.schema.v1.next_edit_capabilities import *
from accord.schema.v1.permissions import *
from accord.schema.v1.plans import *
from accord.schema.v1.prompt import *
from accord.schema.v1.providers import *
from accord.schema.v1.proxy import *
from accord.schema.v1.sessions import *
from accord.schema.v1.subagents import *
from accord.schema.v1.terminals import *
from accord.schema.v1.tool_calls import *
from accord.schema.v1.updates import *

__all__: list[str] = []
__all__ += auth.__all__
__all__ += cancel.__all__
__all__ += capabilities.__all__
__all__ += commands.__all__
__all__ += config.__all__
__all__ += content.__all__
__all__ += documents.__all__
__all__ += elicitation.__all__
__all__ += errors.__all__
__all__ += files.__all__
__all__ += initialize.__all__
__all__ += mcp.__all__
__all__ += next_edit.__all__
__all__ += next_edit_capabilities.__all__
__all__ += permissions.__all__
__all__ += plans.__all__
__all__ += prompt.__all__
__all__ += providers.__all__
__all__ += proxy.__all__
__all__ += sessions.__all__
__all__ += subagents.__all__
__all__ += terminals.__all__
__all__ += tool_calls.__all__
__all__ += updates.__all__
