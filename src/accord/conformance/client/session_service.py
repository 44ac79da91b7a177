"""The sessions of the kit's agent: opened, prompted, listed in pages, closed and reopened.

With it the kit serves a client for as long as the client has something to do, so that what it does
on its own shows.  A client that comes back to a session finds it listed with the folders that the
client itself gave: it is right to send them again, and wrong to leave them out.

Must not know: any rule.

What always holds: a client that never ends is served this many requests and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from accord.conformance.client.fake_agent import SESSION, Conversation, modes
from accord.conformance.frames.raw_peer import Frame, Message, Unanswered
from accord.conformance.rule_definition import Version
from accord.conformance.time_limits import DECIDE_SECONDS, REST_SECONDS

OPENING = ("session/new", "session/load", "session/resume", "session/fork")
# The methods that are answered here; other methods have answers elsewhere.
SERVED = (
    *OPENING, "session/prompt", "session/list", "session/status", "session/archive",
    "session/unarchive", "session/set_title", "providers/list",
)  # fmt: skip
REQUESTS_MAX = 100
# The cursors of the pages; in version 2 an empty text is a cursor.
CURSORS: dict[Version, tuple[str, ...]] = {
    "1": ('b64+/=\u0000 "\\ €',),
    "2": ("more", ""),
    "draft": (),
}
# A session that the client knows only from the list.
LISTED = "kit-0"
PROVIDER = {
    "providerId": "main",
    "supported": ["anthropic"],
    "required": True,
    "current": {"apiType": "anthropic", "baseUrl": "http://127.0.0.1:9/"},
}


@dataclass(slots=True)
class SessionService:
    """Serves one conversation; `status` is the reported status of every session."""

    talk: Conversation
    folder: str
    # The members of a new session besides its id.
    fields: Message | None = None
    status: str = "open"
    # Whether every turn requests a permission, and waits for the answer or a cancel.
    asks: bool = False
    opened: list[str] = field(default_factory=list)
    # The folders of the client's last session.
    place: Message = field(default_factory=dict)

    async def serve(self) -> None:
        """Answer the client's requests until it ends or is quiet."""
        prompted = False
        for _ in range(REQUESTS_MAX):
            seconds = REST_SECONDS if prompted else None
            try:
                frame = await self.talk.request(*SERVED, timeout=seconds)
            except Unanswered:
                return
            prompted = prompted or frame.method == "session/prompt"
            await self._answer(frame)

    async def _answer(self, frame: Frame) -> None:
        if frame.method == "session/prompt":
            await self._take(frame)
        elif frame.method in OPENING:
            await self.talk.reply(frame, self._open(frame))
        elif frame.method == "session/list":
            await self.talk.reply(frame, self._page(frame.params))
        else:
            await self.talk.reply(frame, self._plain(frame))

    async def _take(self, prompt: Frame) -> None:
        name = prompt.params.get("sessionId")
        self.talk.session_id = name if isinstance(name, str) else SESSION
        await self.talk.insert(prompt)
        await self.talk.say("Done.", f"m{len(self.talk.peer.frames)}")
        reason = await self._ask_permission() if self.asks else "end_turn"
        await self.talk.finish(prompt, reason)

    async def _ask_permission(self) -> str:
        """Request a permission, wait for the answer, and return the stop reason of the turn."""
        peer = self.talk.peer
        since = len(peer.frames)
        name = await self.talk.ask("session/request_permission", **self.talk.permission())

        def is_settled(frame: Frame) -> bool:
            is_answer = frame.is_response and frame.object.get("id") == name
            return not frame.sent and (is_answer or frame.method == "session/cancel")

        try:
            frame = await peer.expect(is_settled, "a decision", since=since, timeout=DECIDE_SECONDS)
            if frame.is_response:
                return "end_turn"
            await peer.answer_to(name)
        except Unanswered:
            pass
        return "cancelled"

    def _open(self, frame: Frame) -> Message:
        fields = modes(self.talk.version) if self.fields is None else self.fields
        if frame.method not in ("session/new", "session/fork"):
            return fields
        keys = ("cwd", "additionalDirectories")
        self.place = {key: frame.params[key] for key in keys if frame.params.get(key)}
        self.opened.append(f"kit-{len(self.opened) + 1}")
        return {"sessionId": self.opened[-1], **fields}

    def _page(self, params: Message) -> Message:
        cursors: tuple[Any, ...] = CURSORS[self.talk.version]
        cursor = params.get("cursor")
        at = cursors.index(cursor) + 1 if cursor in cursors else 0
        place = {"cwd": self.folder, **self.place}
        names = self.opened if at == 0 else [LISTED] if at == 1 else []
        page: Message = {"sessions": [{"sessionId": name, **place} for name in names]}
        return page | ({"nextCursor": cursors[at]} if at < len(cursors) else {})

    def _plain(self, frame: Frame) -> Message:
        answers: dict[str | None, Message] = {
            "session/status": {"status": self.status},
            "session/set_title": {"title": frame.params.get("title")},
            "providers/list": {"providers": [PROVIDER]},
        }
        return answers.get(frame.method, {})
