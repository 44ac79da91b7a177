"""Bugs that are planted in the remote transports, each as somebody might write it.

Some of them were there, and were found by the worlds of this folder.  `FOUND_BY` has the first seed
that found each when it was planted.
"""

from typing import Any

from accord.transport.http.client import HttpTransport
from accord.transport.http.connections.h1_connection import H1Connection
from accord.transport.http.connections.h2_connection import H2Connection
from accord.transport.http.outgoing_messages import OutgoingMessages
from accord.transport.http.server_stream import ServerStream
from accord.transport.readiness import LoopDriver
from accord.transport.resume.message_order import MessageOrder
from accord.transport.resume.numbered_frames import ReceivedFrames, SentFrames
from accord.transport.resume.reconnection import Reconnection
from accord.transport.server.http_transport import HttpServerTransport
from accord.transport.server.outgoing_stream import OutgoingStream
from accord.transport.server.server_transport import ServerTransport
from accord.transport.server.websocket.native_socket import NativeSocket
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from accord.transport.websocket.client import WebSocketTransport
from tests.simulation.planted_bugs import Plant, planter

REMOTE_PLANTED: dict[str, Plant] = {}
_plant = planter(REMOTE_PLANTED)


@_plant(ServerStream, "begin")
def _a_stream_continues_one_event_too_late(right: Any) -> Any:
    def begin(self: Any, headers: Any) -> Any:
        if self.request is not None and self._last_id:
            self._last_id += 1
        return right(self, headers)

    return begin


@_plant(ServerStream, "begin")
def _half_an_event_outlives_its_request(right: Any) -> Any:
    def begin(self: Any, headers: Any) -> Any:
        before = self.request
        request = right(self, headers)
        if before is not None:
            request._reader = before._reader
        return request

    return begin


@_plant(SentFrames, "rewind")
def _the_buffer_forgets_one_frame(right: Any) -> Any:
    def rewind(self: Any, number: int) -> bool:
        done: bool = right(self, number)
        if done and len(self._unsent) > 1:
            del self._unsent[0]
        return done

    return rewind


@_plant(SentFrames, "rewind")
def _a_gap_is_passed_over(right: Any) -> Any:
    def rewind(self: Any, number: int) -> bool:
        done: bool = right(self, max(number, self.gone_count))
        return done

    return rewind


@_plant(SentFrames, "acknowledge")
def _an_acknowledgement_drops_one_too_many(right: Any) -> Any:
    def acknowledge(self: Any, number: int) -> bool:
        more = number + 1 if 0 < number < self.sent_count else number
        done: bool = right(self, more)
        return done

    return acknowledge


@_plant(ReceivedFrames, "add")
def _the_last_frame_of_a_chunk_is_not_counted(right: Any) -> Any:
    def add(self: Any, frame_bytes: int, frames: int = 1) -> bool:
        due: bool = right(self, frame_bytes, max(1, frames - 1))
        return due

    return add


@_plant(WebSocketServerTransport, "attach")
def _the_server_counts_one_frame_too_few(right: Any) -> Any:
    def attach(self: Any, socket: Any, received: int = 0) -> bool:
        if self._resume is not None and self._resume.received.count > 1:
            self._resume.received.count -= 1
        done: bool = right(self, socket, received)
        return done

    return attach


@_plant(MessageOrder, "offer")
def _a_repeated_post_is_handled_again(right: Any) -> Any:
    def offer(self: Any, number: int, message: Any, message_bytes: int) -> Any:
        if number == self.count and not self._waiting:
            self.count -= 1
        return right(self, number, message, message_bytes)

    return offer


@_plant(MessageOrder, "offer")
def _posts_are_handled_as_they_come(right: Any) -> Any:
    def offer(self: Any, number: int, message: Any, message_bytes: int) -> Any:
        return right(self, number if number <= self.count else self.count + 1, message, 0)

    return offer


@_plant(OutgoingMessages, "repeat")
def _a_post_without_an_answer_is_forgotten(right: Any) -> Any:
    def repeat(self: Any, message: Any) -> None:
        self.settle(message)

    return repeat


@_plant(OutgoingMessages, "repeat")
def _a_repeated_post_gets_a_new_number(right: Any) -> Any:
    def repeat(self: Any, message: Any) -> None:
        right(self, message)
        self._last_number += 1
        message.number = self._last_number

    return repeat


@_plant(HttpTransport, "_delete")
def _the_connection_is_not_deleted(right: Any) -> Any:
    async def delete(self: Any) -> None:
        """Nothing."""

    return delete


@_plant(HttpTransport, "_retry")
def _the_streams_of_sessions_are_not_opened_again(right: Any) -> Any:
    def retry(self: Any) -> None:
        for session_id, stream in self._streams.items():
            if session_id is not None and stream.state == "lost":
                stream.state = "open"
        right(self)

    return retry


@_plant(HttpTransport, "_check_restored")
def _grace_goes_on_after_a_refused_post(right: Any) -> Any:
    def check_restored(self: Any) -> None:
        if not self._outgoing.is_on_the_way:
            right(self)

    return check_restored


@_plant(Reconnection, "delay")
def _a_second_attempt_is_never_made(right: Any) -> Any:
    def delay(self: Any, now: float, chance: float, reason: str) -> float | None:
        seconds: float | None = right(self, now, chance, reason)
        return seconds if self._attempts < 2 else None

    return delay


@_plant(WebSocketTransport, "_may_come_back")
def _a_cut_socket_is_the_end(right: Any) -> Any:
    def may_come_back(self: Any, lost: Any) -> bool:
        return False

    return may_come_back


@_plant(WebSocketServerTransport, "socket_left")
def _a_client_that_lost_its_socket_is_forgotten(right: Any) -> Any:
    def socket_left(self: Any, socket: Any, *, is_closed: bool = False) -> None:
        right(self, socket, is_closed=True)

    return socket_left


@_plant(WebSocketServerTransport, "socket_left")
def _a_client_that_said_goodbye_is_waited_for(right: Any) -> Any:
    def socket_left(self: Any, socket: Any, *, is_closed: bool = False) -> None:
        right(self, socket)

    return socket_left


@_plant(ServerTransport, "resume")
def _a_message_waits_for_an_agent_that_reads_again(right: Any) -> Any:
    def resume(self: Any) -> None:
        self._paused = False
        if self._inbox:
            self._deliver_soon()

    return resume


@_plant(LoopDriver, "later")
def _a_second_timer_hides_the_first(right: Any) -> Any:
    def later(self: Any, seconds: float, callback: Any) -> None:
        self._timers.clear()
        right(self, seconds, callback)

    return later


@_plant(H2Connection, "_check_silence")
def _a_half_open_connection_is_never_noticed(right: Any) -> Any:
    def check_silence(self: Any) -> None:
        """Nothing."""

    return check_silence


@_plant(H1Connection, "_check_silence")
def _a_post_waits_for_ever_on_a_half_open_connection(right: Any) -> Any:
    def check_silence(self: Any) -> None:
        if self._exchange is not None and self._exchange.is_stream:
            right(self)

    return check_silence


@_plant(NativeSocket, "check_alive")
def _a_silent_client_keeps_its_socket(right: Any) -> Any:
    def check_alive(self: Any, now: float) -> None:
        """Nothing."""

    return check_alive


@_plant(H2Connection, "_finish")
def _a_lost_connection_tells_only_its_streams(right: Any) -> Any:
    def finish(self: Any) -> None:
        self._stream_ids = {one: key for one, key in self._stream_ids.items() if one.is_stream}
        right(self)

    return finish


@_plant(OutgoingStream, "attach")
def _a_reader_that_comes_back_begins_at_the_next_event(right: Any) -> Any:
    def attach(self: Any, reader: Any, last_event: int | None) -> bool:
        done: bool = right(self, reader, self.frames.sent_count if last_event else last_event)
        return done

    return attach


@_plant(HttpServerTransport, "_hand_over")
def _an_answer_goes_to_the_stream_of_the_connection(right: Any) -> Any:
    def hand_over(self: Any, message: Any) -> None:
        right(self, message._replace(session_header=None))

    return hand_over


FOUND_BY = {
    "a_stream_continues_one_event_too_late": 20,
    "half_an_event_outlives_its_request": 462,
    "the_buffer_forgets_one_frame": 7,
    "a_gap_is_passed_over": 245,
    "an_acknowledgement_drops_one_too_many": 1,
    "the_last_frame_of_a_chunk_is_not_counted": 76,
    "the_server_counts_one_frame_too_few": 1,
    "a_repeated_post_is_handled_again": 7,
    "posts_are_handled_as_they_come": 7,
    "a_post_without_an_answer_is_forgotten": 2,
    "a_repeated_post_gets_a_new_number": 7,
    "the_connection_is_not_deleted": 4,
    "the_streams_of_sessions_are_not_opened_again": 5,
    "grace_goes_on_after_a_refused_post": 107,
    "a_second_attempt_is_never_made": 16,
    "a_cut_socket_is_the_end": 1,
    "a_client_that_lost_its_socket_is_forgotten": 23,
    "a_client_that_said_goodbye_is_waited_for": 18,
    "a_message_waits_for_an_agent_that_reads_again": 38,
    "a_second_timer_hides_the_first": 2,
    "a_half_open_connection_is_never_noticed": 7,
    "a_post_waits_for_ever_on_a_half_open_connection": 312,
    "a_silent_client_keeps_its_socket": 41,
    "a_lost_connection_tells_only_its_streams": 16,
    "a_reader_that_comes_back_begins_at_the_next_event": 50,
    "an_answer_goes_to_the_stream_of_the_connection": 4,
}
