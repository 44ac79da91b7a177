"""A client and an agent that both speak the 2026-02 draft: messages are passed on, turns watched.

In the draft a turn that has begun ends with a stop reason, even if the agent dies in it; then only
a program between the two can send that.

What always holds: the answers of a living agent are passed on unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import Outs
from accord.translate.draft.turn_results import cancelled_turn, failed_turn, gone
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    Json,
    Key,
    Notification,
    Out,
    Request,
    Surroundings,
)
from accord.translate.pass_through import Same


@dataclass(slots=True)
class _Turn:
    """One prompt; it has begun when its first update went out."""

    key: Key
    begun: bool = False
    cancelled: bool = False


class SameDraft(Same):
    """Passes on everything, and ends the turns of an agent that is gone."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        # The open prompts of each session that has any, in the order in which they came.
        self._turns: dict[str, list[_Turn]] = {}
        self.on_request[CLIENT, "session/prompt"] = self._prompt
        self.on_notification[AGENT, SESSION_UPDATE] = self._update
        self.on_notification[CLIENT, "session/cancel"] = self._cancel

    def _prompt(self, request: Request) -> Outs:
        session_id, turn = request.params["sessionId"], _Turn(request.key)
        self._turns.setdefault(session_id, []).append(turn)

        def then(answer: Answer) -> Outs:
            turns = self._turns[session_id]
            turns.remove(turn)
            if not turns:
                del self._turns[session_id]
            return [self.answer(CLIENT, request.key, answer)]

        asked = request.method, request.params
        return [self.ask(AGENT, *asked, then, instead_of=request, of=CLIENT)]

    def _update(self, params: Json) -> Outs:
        turns = self._turns.get(params["sessionId"])
        if turns is not None:
            # An agent works on one prompt at a time.
            turns[0].begun = True
        return [(CLIENT, Notification(SESSION_UPDATE, params))]

    def _cancel(self, params: Json) -> Outs:
        for turn in self._turns.get(params["sessionId"], ()):
            turn.cancelled = True
        return [(AGENT, Notification("session/cancel", params))]

    def ended(self, why: str) -> Outs:
        """End the turns that had begun with an error, or as cancelled; other prompts fail."""
        outs: list[Out] = []
        for turn in (turn for turns in self._turns.values() for turn in turns):
            if turn.cancelled:
                outs.append((CLIENT, cancelled_turn(turn.key)))
            elif turn.begun:
                outs.append((CLIENT, failed_turn(turn.key, gone(why))))
        self._turns.clear()
        return outs
