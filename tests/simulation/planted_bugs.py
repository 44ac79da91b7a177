"""Bugs that are planted in the core on purpose, each as somebody might write it.

A simulator that finds none of them would be worth nothing.  `FOUND_BY` has the first seed, counted
from 1, that found each when it was planted; `python -m tests.simulation --planted` searches again.
"""

import contextlib
from collections.abc import Awaitable, Callable, Generator
from typing import Any
from unittest import mock

from accord.agent.session import turn_run
from accord.agent.session.prompt_queue import PromptQueue, Ticket
from accord.agent.session.turn_state import TurnState
from accord.agent.session.unfinished_work import Unfinished
from accord.agent.session.updates import LogThenSend
from accord.agent.terminals import command_runner as agent_terminals
from accord.client.permissions.open_requests import OpenRequest
from accord.client.services.elicitation import Elicitations
from accord.client.services.service_interfaces import DONE
from accord.client.services.services import Services
from accord.client.session.prompt_exchange import Exchange
from accord.client.session.state import SessionCore
from accord.client.session.transcript_span import TranscriptSpan
from accord.client.session.update_inbox import Inbox
from accord.client.wire.v1 import files
from accord.connection.backpressure import TransportPauser
from accord.connection.connection import Connection
from accord.connection.incoming_requests import IncomingRequests
from accord.connection.outgoing_calls import PendingCalls
from accord.errors import RequestError
from accord.jsonrpc.framing import ContentLength
from accord.transcript.coalesced_updates import LateUpdates
from accord.transport.pipes import PipeTransport

Plant = Callable[[], "contextlib.AbstractContextManager[object]"]
Register = Callable[[Callable[..., Any]], Callable[..., Any]]
PLANTED: dict[str, Plant] = {}


def planter(planted: dict[str, Plant]) -> Callable[[Any, str], Register]:
    """Return a decorator that registers a function as a broken form of a method.

    The function's own name says what is broken.  It gets the method as it was, and returns the one
    that takes its place.
    """

    def plant(owner: Any, name: str) -> Register:
        def register(broken: Callable[..., Any]) -> Callable[..., Any]:
            @contextlib.contextmanager
            def patched() -> Generator[object]:
                with mock.patch.object(owner, name, broken(getattr(owner, name))):
                    yield None

            planted[broken.__name__.strip("_")] = patched
            return broken

        return register

    return plant


_plant = planter(PLANTED)


@_plant(PipeTransport, "_write_gathered")
def _a_burst_is_written_backwards(right: Any) -> Any:
    def write_gathered(self: Any) -> None:
        self._gathered.reverse()
        right(self)

    return write_gathered


@_plant(PipeTransport, "_next_iteration")
def _the_rest_of_a_burst_is_forgotten(right: Any) -> Any:
    def come_round(self: Any) -> None:
        self._burst = 0

    return come_round


@_plant(PipeTransport, "_stop_writing")
def _a_timer_outlives_its_transport(right: Any) -> Any:
    def stop_writing(self: Any) -> None:
        right(self)
        if self._driver is not None and self._stall_watched:
            self._driver._timers = set()

    return stop_writing


@_plant(Connection, "_frames_received")
def _answers_overtake_updates(right: Any) -> Any:
    def frames_received(self: Any, frames: list[bytes]) -> None:
        right(self, sorted(frames, key=lambda frame: b'"method"' in frame[:60]))

    return frames_received


@_plant(Connection, "_handle_rest")
def _the_rest_of_a_large_chunk_comes_backwards(right: Any) -> Any:
    async def handle_rest(self: Any) -> None:
        self._unread.reverse()
        await right(self)

    return handle_rest


@_plant(IncomingRequests, "_settle")
def _a_withdrawn_request_is_never_answered(right: Any) -> Any:
    def settle(self: Any, request: Any, outcome: Any) -> None:
        if not request.cancel_requested:
            right(self, request, outcome)

    return settle


@_plant(IncomingRequests, "_answer")
def _an_answer_is_given_twice(right: Any) -> Any:
    def answer(self: Any, request: Any, result: bytes) -> None:
        right(self, request, result)
        if request.cancel_requested and not self._over:
            frame = b'{"jsonrpc":"2.0","id":%d,"result":{}}' % request.id
            self._write(self._framing.in_parts(frame))

    return answer


@_plant(PromptQueue, "cancel_all")
def _a_cancel_misses_the_prompts_that_wait(right: Any) -> Any:
    def cancel_all(self: Any) -> None:
        if self._running is not None:
            self._running.cancel()

    return cancel_all


@_plant(PromptQueue, "leave")
def _the_latest_prompt_is_next(right: Any) -> Any:
    def leave(self: Any, ticket: Ticket) -> None:
        if ticket is self._running:
            self._waiting.reverse()
        right(self, ticket)

    return leave


@_plant(Ticket, "cancel")
def _a_cancel_is_not_passed_on_to_the_turn(right: Any) -> Any:
    def cancel(self: Any) -> None:
        self.cancelled = True
        self.call()

    return cancel


@_plant(TurnState, "finish")
def _open_tool_calls_are_not_settled(right: Any) -> Any:
    async def finish(self: Any, **how: bool) -> None:
        self.has_ended = True

    return finish


@_plant(TurnState, "finish")
def _a_stream_outlives_its_turn(right: Any) -> Any:
    async def finish(self: Any, **how: bool) -> None:
        self._streams = []
        await right(self, **how)

    return finish


@_plant(LogThenSend, "then")
def _it_is_told_before_it_is_logged(right: Any) -> Any:
    async def then(self: Any, writing: Awaitable[None], tell: Callable[[], None]) -> None:
        tell()
        await writing

    return then


@_plant(LogThenSend, "then")
def _a_cancel_takes_back_what_is_logged(right: Any) -> Any:
    async def then(self: Any, writing: Awaitable[None], tell: Callable[[], None]) -> None:
        await writing
        tell()

    return then


@_plant(PendingCalls, "lose")
def _calls_wait_for_an_agent_that_is_gone(right: Any) -> Any:
    def lose(self: Any, error: Any) -> None:
        self._lost = error
        self._open.clear()

    return lose


@_plant(Unfinished, "endings")
def _what_a_crash_left_open_stays_open(right: Any) -> Any:
    def endings(self: Any, running_ids: Any) -> list[Any]:
        return []

    return endings


@_plant(Inbox, "put")
def _an_update_is_dropped_while_the_inbox_is_full(right: Any) -> Any:
    def put(self: Any, update: Any) -> None:
        if not self._holding:
            right(self, update)

    return put


@_plant(Inbox, "_release")
def _a_full_inbox_holds_the_reading_for_ever(right: Any) -> Any:
    def release(self: Any) -> None:
        self._holding = False

    return release


@_plant(TransportPauser, "hold")
def _a_full_inbox_holds_nothing_back(right: Any) -> Any:
    def hold(self: Any) -> None:
        self.holds += 1
        self.is_held = self._waiting == 0

    return hold


@_plant(LateUpdates, "add")
def _a_full_inbox_grows_while_somebody_waits(right: Any) -> Any:
    def add(self: Any, update: Any) -> Any:
        return update

    return add


@_plant(LateUpdates, "take")
def _a_late_update_has_the_text_of_the_first_only(right: Any) -> Any:
    def take(self: Any, update: Any) -> Any:
        right(self, update)
        return update

    return take


@_plant(OpenRequest, "withdraw")
def _a_question_outlives_its_cancel(right: Any) -> Any:
    def withdraw(self: Any) -> None:
        """Nothing."""

    return withdraw


@_plant(Exchange, "cancel_sent")
def _a_prompt_is_sent_behind_its_cancel(right: Any) -> Any:
    def cancel_sent(self: Any) -> None:
        if self._on_wire:
            right(self)

    return cancel_sent


@_plant(TranscriptSpan, "is_empty")
def _a_prompt_is_repeated_though_work_was_done(right: Any) -> Any:
    return property(lambda self: True)


@_plant(Exchange, "_step_aside")
def _a_prompt_that_waits_is_told_what_others_are(right: Any) -> Any:
    def step_aside(self: Any) -> None:
        self._on_wire = False

    return step_aside


@_plant(SessionCore, "exchange_ended")
def _the_next_turn_begins_with_the_last_one(right: Any) -> Any:
    def exchange_ended(self: Any, exchange: Any) -> None:
        for one in self._exchanges:
            one.span._begin = one.span._begin or exchange.span._begin
        right(self, exchange)

    return exchange_ended


@_plant(SessionCore, "exchange_ended")
def _the_rest_of_a_left_turn_is_the_next_ones(right: Any) -> Any:
    def exchange_ended(self: Any, exchange: Any) -> None:
        exchange.is_left = False
        right(self, exchange)

    return exchange_ended


@_plant(files.FileRequests, "_write")
def _a_file_is_written_before_the_user_is_asked(right: Any) -> Any:
    async def write(self: Any, session_id: str, path: str, content: str) -> bytes:
        await self._services.files.write_text(session_id, path, content)
        done: bytes = await right(self, session_id, path, content)
        return done

    return write


@_plant(files.FileRequests, "_write")
def _a_write_is_answered_before_it_is_done(right: Any) -> Any:
    async def write(self: Any, session_id: str, path: str, content: str) -> bytes:
        async def later() -> None:
            with contextlib.suppress(RequestError):
                await right(self, session_id, path, content)

        self._services._connection.run(later)
        return DONE

    return write


@_plant(agent_terminals, "_release")
def _a_terminal_is_never_released(right: Any) -> Any:
    async def release(session: Any, terminal: Any, released: Any = None) -> None:
        if released is not None:
            released.set()

    return release


@_plant(Services, "aclose")
def _commands_outlive_their_agent(right: Any) -> Any:
    async def aclose(self: Any) -> None:
        """Nothing."""

    return aclose


@_plant(Elicitations, "_queued")
def _forms_are_shown_all_at_once(right: Any) -> Any:
    async def queued(self: Any, session_id: Any, ask: Any) -> Any:
        return await ask()

    return queued


@_plant(ContentLength, "encode")
def _a_length_counts_characters(right: Any) -> Any:
    def encode(self: Any, frame: bytes) -> bytes:
        length = len(bytes(frame).decode())
        return b"Content-Length: %d\r\n\r\n" % length + bytes(frame)

    return encode


@_plant(ContentLength, "feed")
def _the_rest_of_a_chunk_is_lost_behind_a_header(right: Any) -> Any:
    def feed(self: Any, chunk: bytes) -> list[bytes]:
        frames: list[bytes] = right(self, chunk)
        if self._body_bytes is not None and frames:
            self._pieces, self._held_bytes = [], 0
        return frames

    return feed


def _a_handler_that_does_not_heed_is_waited_for() -> Any:
    return mock.patch.object(turn_run, "CANCEL_SECONDS_MAX", 1e6)


PLANTED["a_handler_that_does_not_heed_is_waited_for"] = _a_handler_that_does_not_heed_is_waited_for

FOUND_BY = {
    "a_burst_is_written_backwards": 9,
    "the_rest_of_a_burst_is_forgotten": 9,
    "a_timer_outlives_its_transport": 1,
    "answers_overtake_updates": 44,
    "the_rest_of_a_large_chunk_comes_backwards": 21,
    "a_withdrawn_request_is_never_answered": 16,
    "an_answer_is_given_twice": 16,
    "a_cancel_misses_the_prompts_that_wait": 7,
    "the_latest_prompt_is_next": 56,
    "a_cancel_is_not_passed_on_to_the_turn": 2,
    "open_tool_calls_are_not_settled": 9,
    "a_stream_outlives_its_turn": 139,
    "it_is_told_before_it_is_logged": 1438,
    "a_cancel_takes_back_what_is_logged": 7,
    "calls_wait_for_an_agent_that_is_gone": 23,
    "what_a_crash_left_open_stays_open": 5,
    "an_update_is_dropped_while_the_inbox_is_full": 25,
    "a_full_inbox_grows_while_somebody_waits": 64,
    "a_late_update_has_the_text_of_the_first_only": 131,
    "a_full_inbox_holds_the_reading_for_ever": 2,
    "a_full_inbox_holds_nothing_back": 245,
    "a_question_outlives_its_cancel": 452,
    "a_prompt_is_sent_behind_its_cancel": 12,
    "a_prompt_is_repeated_though_work_was_done": 11,
    "a_prompt_that_waits_is_told_what_others_are": 113,
    "the_next_turn_begins_with_the_last_one": 33,
    "the_rest_of_a_left_turn_is_the_next_ones": 503,
    "a_file_is_written_before_the_user_is_asked": 25,
    "a_write_is_answered_before_it_is_done": 25,
    "a_terminal_is_never_released": 150,
    "commands_outlive_their_agent": 61,
    "forms_are_shown_all_at_once": 362,
    "a_length_counts_characters": 12,
    "the_rest_of_a_chunk_is_lost_behind_a_header": 12,
    "a_handler_that_does_not_heed_is_waited_for": 348,
}
