"""A permission request that was denied: what it was about, and the prompt that retries it.

This module does not know any screen.
"""

from __future__ import annotations

from accord.client.permissions.request import PermissionRequest
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.text.display_text import one_line


def subject_words(request: PermissionRequest) -> str:
    """What was asked for, on one line."""
    if request.command is not None:
        return one_line(request.command)
    return one_line(request.title) or ", ".join(one_line(path) for path in request.paths)


def retry_prompt(request: PermissionRequest) -> Draft:
    """A prompt that asks the agent to retry what was denied; the protocol has no other way."""
    return Draft(f"Please try again: {subject_words(request)}. I allow it now.")
