"""Questions on the screen, in the place of the prompt: permissions, forms, pages, logins.

`dialog_for` makes the dialog of a question; it answers that question and nothing else.
"""

from __future__ import annotations

from typing import Any

from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question, QuestionKind
from accord.terminal.screen.dialogs.form import FormDialog
from accord.terminal.screen.dialogs.frame import Dialog
from accord.terminal.screen.dialogs.grants import GrantsScreen
from accord.terminal.screen.dialogs.login import CredentialDialog, LoginDialog, ServersDialog
from accord.terminal.screen.dialogs.pages import PagesBar
from accord.terminal.screen.dialogs.permission import PermissionDialog
from accord.terminal.screen.dialogs.url import UrlDialog

_DIALOGS: dict[QuestionKind, type[Dialog]] = {
    "permission": PermissionDialog,
    "form": FormDialog,
    "url": UrlDialog,
    "login": LoginDialog,
    "credential": CredentialDialog,
    "servers": ServersDialog,
}


def dialog_for(question: Question, chat: Chat, desk: Any) -> Dialog:
    """The dialog that asks this question."""
    return _DIALOGS[question.kind](question, chat, desk)


__all__ = ["Dialog", "GrantsScreen", "PagesBar", "dialog_for"]
