"""Prompts and states: one turn of the v1 agent at a time, as v2's echoes and states.

A prompt is inserted with the first thing that the agent says about it, or `INSERTED_AFTER` later:
until then a refusal is the prompt's error, and nothing of it is shown.  What the agent does while
no prompt is open counts as work of its own until it has been silent for `SILENCE`.

What always holds
    * A prompt is answered once: with its `messageId` when it is inserted, or with an error.
    * After every `running` or `requires_action` comes an `idle`, also when the agent goes.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    text_of,
)
from accord.schema.codec import encode
from accord.schema.method import CANCEL_REQUEST
from accord.translate.adapter import NOTHING, Outs
from accord.translate.content_blocks import prompted_block_to_v1
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Notification,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import OFFICIAL, keep, restore
from accord.translate.v1_agent.session_state import (
    FINAL_STATUSES,
    IDLE,
    REQUIRES_ACTION,
    RUNNING,
    Core,
    Prompt,
    Session,
    Turn,
)

HELD_PROMPTS_MAX: Final = 16

INSERTED_AFTER: Final = 0.05
SILENCE: Final = 2.0
# Updates that show work of the agent; the others only inform.
WORK: Final = frozenset(
    {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call"}
)
# The capability that a type of block needs.
NEEDED: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
# Keys that a state of v2 has and the result of a v1 prompt does not.
MEANT_OTHERWISE: Final = frozenset({"sessionUpdate", "state", "error", "background"})


class Turns:
    """The prompts and the state of every session."""

    def __init__(self, core: Core, on_stopped: Callable[[Session], Outs]) -> None:
        """`on_stopped` is called when a session that is being closed has no turn any more."""
        self._core = core
        self._on_stopped = on_stopped
        core.on_request[CLIENT, "session/prompt"] = self._prompt
        core.on_notification[CLIENT, "session/cancel"] = self._cancel
        core.on_notification[CLIENT, CANCEL_REQUEST] = self._cancel_request

    # ---- prompts

    def _prompt(self, request: Request) -> Outs:
        session = self._core.open_session(request.params["sessionId"])
        prompt = self._read(request)
        if session.turn is None and not session.held:
            return self._begin(session, prompt)
        if len(session.held) >= HELD_PROMPTS_MAX:
            raise CannotTranslate(
                INVALID_REQUEST, "too many prompts wait for this session", {"reason": "busy"}
            )
        session.held.append(prompt)
        return NOTHING

    def _read(self, request: Request) -> Prompt:
        blocks: list[Json] = request.params["prompt"]
        if not blocks:
            raise CannotTranslate(INVALID_PARAMS, "a prompt needs at least one block")
        for block in blocks:
            needed = NEEDED.get(block["type"])
            if needed is not None and needed not in self._core.can.prompt:
                # Not advertised: an agent that cannot read the block might ignore it.
                raise CannotTranslate(
                    INVALID_PARAMS,
                    f"this agent does not accept {block['type']!r} content",
                    {"type": block["type"], "reason": f"{needed} is not offered"},
                )
        asked = [prompted_block_to_v1(block, self._core.lost) for block in deepcopy(blocks)]
        return Prompt(request.key, blocks, {**request.params, "prompt": asked})

    def _begin(self, session: Session, prompt: Prompt) -> Outs:
        core = self._core
        turn = Turn(prompt, _echo_of(prompt.params["prompt"]))
        session.turn = turn
        session.cancelled = False
        session.message_kind = None
        session.turn_calls.clear()
        session.stamp = core.around.stamp()
        core.never(session, "silence")

        def then(answer: Answer) -> Outs:
            return self._ended(session, turn, answer)

        to, asked = core.ask(AGENT, "session/prompt", prompt.params, then)
        assert isinstance(asked, Request)
        turn.agent_key = asked.key
        core.later(session, "insertion", INSERTED_AFTER, lambda: self.insert(session))
        return [(to, asked)]

    def insert(self, session: Session) -> Outs:
        """Insert the prompt into the conversation, unless it is there already."""
        turn = session.turn
        if turn is None or turn.inserted:
            return NOTHING
        turn.inserted = True
        self._core.never(session, "insertion")
        blocks = turn.prompt.blocks
        message_id = session.prompts.fresh(blocks, f"u-{self._core.around.fresh()}")
        session.messages.begin_turn(message_id)
        echo: Json = {"sessionUpdate": "user_message", "messageId": message_id, "content": blocks}
        return [
            self._core.tell(session, echo),
            (CLIENT, Result(turn.prompt.key, {"messageId": message_id})),
            self.enter(session, RUNNING),
        ]

    def is_echo(self, session: Session, block: Json) -> bool:
        """Whether a block is the agent's own echo of the prompt, which the client has already."""
        turn = session.turn
        if turn is None or session.past is not None or not turn.expected:
            return False
        expected = turn.expected
        first = expected[0]
        said: str | bytes = block["text"] if block["type"] == "text" else encode(block)
        if said == first:
            del expected[0]
            return True
        if isinstance(said, str) and isinstance(first, str) and said and first.startswith(said):
            expected[0] = first[len(said) :]
            return True
        expected.clear()
        return False

    def _ended(self, session: Session, turn: Turn, answer: Answer) -> Outs:
        if session.turn is not turn:
            # The session was closed before the agent answered.
            return NOTHING
        outs: list[Out] = []
        if isinstance(answer, Failure) and not turn.inserted:
            self._core.never(session, "insertion")
            outs.append(self._core.fail(turn.prompt.key, answer, session.id))
            session.turn = None
            if session.state != IDLE:
                # The agent was already working on its own.
                self._listen(session)
        else:
            outs += self.insert(session)
            outs += self._finish(session, turn, _end_of(turn, answer))
        return [*outs, *self._next(session)]

    def _finish(self, session: Session, turn: Turn, end: Json) -> Outs:
        session.turn = None
        session.approvals.clear()
        session.running_tools.clear()
        outs = list(self.drop_questions(session))
        if end.get("stopReason") == "cancelled":
            outs += self._stop_tools(session)
        session.state = IDLE
        outs.append(self._core.tell(session, end))
        return outs

    def _stop_tools(self, session: Session) -> Outs:
        """End the open tool calls: v1 agents leave them as they were after a cancel.

        Those of earlier turns are unchanged, since their turns were not cancelled.
        """
        outs: list[Out] = []
        for tool_call_id, call in session.tool_calls.items():
            if tool_call_id in session.turn_calls and call.status not in FINAL_STATUSES:
                call.status = "cancelled"
                update: Json = {
                    "sessionUpdate": "tool_call_update",
                    "toolCallId": tool_call_id,
                    "status": "cancelled",
                }
                outs.append(self._core.tell(session, update))
        return outs

    def _next(self, session: Session) -> Outs:
        if session.closing:
            return self._on_stopped(session)
        if session.held and session.turn is None:
            return self._begin(session, session.held.popleft())
        return NOTHING

    # ---- states

    def enter(self, session: Session, state: str) -> Out:
        """Enter a state and report it to the client."""
        session.state = state
        return self._core.tell(session, {"sessionUpdate": "state_update", "state": state})

    def settle(self, session: Session) -> Outs:
        """Say whether the session waits for the user, if that has changed."""
        if session.state == IDLE:
            return NOTHING
        waits = session.questions and not session.running_tools
        state = REQUIRES_ACTION if waits else RUNNING
        return NOTHING if state == session.state else [self.enter(session, state)]

    def noticed(self, session: Session, kind: str, update: Json) -> Outs:
        """Take notice of an update while no prompt is open."""
        if session.child:
            return NOTHING
        is_work = kind in WORK or (
            # Updates of a known call are background work.
            kind == "tool_call_update" and update["toolCallId"] not in session.tool_calls
        )
        return self.work(session) if is_work or session.state != IDLE else NOTHING

    def work(self, session: Session) -> Outs:
        """Note that the agent works on its own."""
        self._listen(session)
        return [self.enter(session, RUNNING)] if session.state == IDLE else NOTHING

    def _listen(self, session: Session) -> None:
        self._core.later(session, "silence", SILENCE, lambda: self._silent(session))

    def _silent(self, session: Session) -> Outs:
        if session.questions:
            self._listen(session)
            return NOTHING
        return self.rest(session)

    def rest(self, session: Session) -> Outs:
        """End the agent's own work."""
        reason = "cancelled" if session.cancelled else "end_turn"
        session.cancelled = False
        session.approvals.clear()
        session.state = IDLE
        session.message_kind = None
        return [self._core.tell(session, _idle(reason))]

    # ---- cancelling

    def _cancel(self, params: Json) -> Outs:
        session = self._core.sessions.get(params["sessionId"])
        if session is None or not (session.open or session.child):
            return NOTHING
        return [*self.insert(session), *self.give_up_held(session), *self.stop(session, params)]

    def give_up_held(self, session: Session) -> Outs:
        """Answer the prompts that were never inserted."""
        held = [prompt.key for prompt in session.held]
        session.held.clear()
        return [(CLIENT, _cancelled(key)) for key in held]

    def stop(self, session: Session, params: Json) -> Outs:
        """Ask the agent to stop, and settle the requests that wait for the user."""
        if session.turn is not None:
            session.turn.cancelled = True
        else:
            session.cancelled = session.state != IDLE
        session.approvals.clear()
        told = (AGENT, Notification("session/cancel", params))
        return [told, *self.drop_questions(session)]

    def drop_questions(self, session: Session) -> Outs:
        """Cancel the open requests to the user on both sides."""
        outs: list[Out] = []
        for question in session.questions.values():
            question.settled = True
            outs.append((AGENT, question.given_up))
            withdrawn: Json = {"requestId": question.client_key}
            outs.append((CLIENT, Notification(CANCEL_REQUEST, withdrawn)))
            outs += question.dropped()
        session.questions.clear()
        return outs

    def _cancel_request(self, params: Json) -> Outs:
        key: Any = params.get("requestId")
        for session in self._core.sessions.values():
            for prompt in session.held:
                if prompt.key == key:
                    session.held.remove(prompt)
                    return [(CLIENT, _cancelled(key))]
        return self._core.cancelled_by(CLIENT, key)

    # ---- the end

    def ended(self, session: Session, why: str) -> Outs:
        """The agent is gone: what it worked on has failed."""
        if session.state == IDLE:
            return NOTHING
        outs = list(self.drop_questions(session))
        session.turn = None
        error: Json = {
            "code": INTERNAL_ERROR,
            "message": why,
            "data": {"reason": "agent_gone"},
        }
        session.state = IDLE
        outs.append(self._core.tell(session, {**_idle("error"), "error": error}))
        # No answers: the peer is gone.
        return [out for out in outs if out[0] is CLIENT]

    def abandon(self, session: Session) -> Outs:
        """End the turn without the agent's answer."""
        turn = session.turn
        assert turn is not None
        return [*self.insert(session), *self._finish(session, turn, _idle("cancelled"))]


def _idle(reason: str) -> Json:
    return {"sessionUpdate": "state_update", "state": IDLE, "stopReason": reason}


def _end_of(turn: Turn, answer: Answer) -> Json:
    """Convert the agent's answer to a prompt to the state that ends the turn."""
    if isinstance(answer, Failure):
        if turn.cancelled:
            return _idle("cancelled")
        error: Json = {"code": answer.code, "message": answer.message}
        if answer.data is not None:
            error["data"] = answer.data
        return {**_idle("error"), "error": error}
    result: Json = dict(answer.result)
    end: Json = _idle(result.pop("stopReason"))
    meta = result.pop("_meta", None)
    if meta is not None:
        end["_meta"] = meta
    for name, value in result.items():
        if name in MEANT_OTHERWISE:
            keep(end, OFFICIAL, name, value)
        else:
            end[name] = value
    restore(end, {"stopReason": lambda value: value is None or isinstance(value, str)})
    if end["stopReason"] is None:
        del end["stopReason"]
    if end.get("usage") is not None:
        # v1 counts from the session's start, or says nothing about it.
        keep(end, OFFICIAL, "scope", "session")
    return end


def _echo_of(blocks: list[Json]) -> list[str | bytes]:
    return [block["text"] if block["type"] == "text" else encode(block) for block in blocks]


def _cancelled(key: Key) -> Failure:
    return Failure(key, REQUEST_CANCELLED, text_of(REQUEST_CANCELLED))
