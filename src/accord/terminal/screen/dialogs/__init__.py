"""Questions on the screen, in the place of the prompt: permissions, forms, pages, logins.

`dialog_for` makes the dialog of a question; it answers that question and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question, QuestionKind
from accord.terminal.screen.dialogs.dialog import Dialog

# Imported when the first question of a kind is asked; most conversations have one kind or none.
_DIALOGS: dict[QuestionKind, tuple[str, str]] = {
    "permission": ("permission", "PermissionDialog"),
    "form": ("form", "FormDialog"),
    "url": ("url", "UrlDialog"),
    "login": ("login", "LoginDialog"),
    "credential": ("login", "CredentialDialog"),
    "servers": ("project_servers", "ServersDialog"),
}


def dialog_for(question: Question, chat: Chat, controller: Any) -> Dialog:
    """The dialog that asks this question."""
    module, name = _DIALOGS[question.kind]
    kind: type[Dialog] = getattr(import_module(f"{__name__}.{module}"), name)
    return kind(question, chat, controller)


__all__ = ["Dialog", "dialog_for"]
