"""A conversation on a screen of its own, and updates as they come from the wire."""

from __future__ import annotations

from textual.app import App, ComposeResult

from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.terminal.model.chat import Chat
from accord.terminal.render.conversation_colours import DARK, Palette
from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation import Conversation
from accord.transcript import Transcript


def new_chat() -> Chat:
    """A chat with an empty session of v1."""
    chat = Chat("/w", clock=lambda: 0.0)
    chat.adopt(Transcript("v1"), "s")
    chat.set_phase("ready")
    return chat


def take(chat: Chat, tag: str, **fields: object) -> None:
    """An update comes."""
    body = {"sessionId": "s", "update": {"sessionUpdate": tag, **fields}}
    change = chat.transcript.apply(decode(v1.SessionNotification, encode(body)).update)
    if change is not None:
        chat.listen(change)


def say(chat: Chat, text: str, message_id: str = "m", role: str = "agent_message") -> None:
    """A piece of a message comes."""
    take(chat, f"{role}_chunk", content={"type": "text", "text": text}, messageId=message_id)


class Stage(App[None]):
    """Nothing but a conversation."""

    def __init__(self, chat: Chat, palette: Palette = DARK) -> None:
        super().__init__()
        self.chat = chat
        self.palette = palette
        self.chosen: list[object] = []

    def compose(self) -> ComposeResult:
        yield Conversation(self.chat, Look(80, self.palette))

    def on_conversation_target_chosen(self, event: Conversation.TargetChosen) -> None:
        self.chosen.append(event.target)

    @property
    def view(self) -> Conversation:
        """The conversation."""
        return self.query_one(Conversation)

    def seen(self) -> list[str]:
        """The lines on the screen."""
        view = self.view
        return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


__all__ = ["Stage", "new_chat", "say", "take"]
