"""How many tokens a model takes at once, and how many its answer may have."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Final

from accord.builtin.models.providers import ModelChoice

if TYPE_CHECKING:
    from pydantic_ai.models import Model

# The library's own default for Anthropic is too short for a file.
ANTHROPIC_TOKENS: Final = 32_000
LARGE_ANSWERS = re.compile(r"^claude-(sonnet|opus|haiku|fable|mythos)-[4-9]")
# What is assumed where nobody knows.
LOCAL_WINDOW: Final = 32_000
WINDOW: Final = 128_000


def context_window(choice: ModelChoice, model: Model) -> int:
    """The size of the window in tokens: what the user set, what the library knows, or a guess."""
    if choice.context_window is not None:
        return choice.context_window
    own_server = choice.provider == "ollama" or choice.base_url is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = getattr(model, "context_window", None)
    if isinstance(known, int) and known > 0:
        return known
    return LOCAL_WINDOW if own_server else WINDOW
