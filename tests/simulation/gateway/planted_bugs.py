"""Bugs that are planted in the gateway, each as somebody might write it.

Some of them were there, and were found by the worlds of this folder.  `FOUND_BY` has the first seed
that found each when it was planted.
"""

from typing import Any

from accord.gateway.agents.agent_process import AgentProcess
from accord.gateway.clients import client_connection
from accord.gateway.sessions import session_registry
from accord.gateway.sessions.attachment import Attachment
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.log_events import LastTurn
from accord.gateway.sessions.requests import shared_requests
from accord.gateway.sessions.requests.client_requests import ClientRequests
from accord.gateway.sessions.session_writer import SessionWriter
from accord.gateway.sessions.turns import Turns
from accord.jsonrpc.envelope import notification_frame
from accord.proxy.hop import Hop
from tests.simulation.planted_bugs import Plant, planter

GATEWAY_PLANTED: dict[str, Plant] = {}
_plant = planter(GATEWAY_PLANTED)


@_plant(SessionWriter, "put")
def _an_event_is_shown_before_it_is_in_the_log(right: Any) -> Any:
    def put(self: Any, kind: str, body: bytes, then: Any = None) -> None:
        for attachment in self._written.__self__.attachments:
            if kind == "update" and not attachment.is_replaying:
                attachment.client.send(notification_frame("session/update", body))
        right(self, kind, body, then)

    return put


@_plant(Attachment, "pass_on")
def _a_reader_that_is_behind_is_passed_what_is_new(right: Any) -> Any:
    def pass_on(self: Any, events: Any) -> None:
        if not self.is_over:
            self._send(events)

    return pass_on


@_plant(Attachment, "pass_on")
def _a_reader_that_is_behind_is_not_woken(right: Any) -> Any:
    def pass_on(self: Any, events: Any) -> None:
        keeps_up = not self._is_reading and self.client.backlog == 0
        if keeps_up and events[0].seq == self.cursor + 1:
            self._send(events)

    return pass_on


@_plant(Attachment, "_run_once")
def _nobody_waits_for_a_client_that_does_not_read(right: Any) -> Any:
    async def run_once(self: Any) -> None:
        client, self.client = self.client, _Hungry(self.client)
        try:
            await right(self)
        finally:
            self.client = client

    return run_once


class _Hungry:
    """A client that seems to take everything."""

    backlog = 0

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


@_plant(Turns, "_lost")
def _nobody_is_told_that_an_agent_died_in_a_turn(right: Any) -> Any:
    return lambda self, reason: None


@_plant(session_registry, "last_turn")
def _a_turn_that_a_dead_gateway_ran_is_not_told(right: Any) -> Any:
    async def last_turn(*given: Any) -> LastTurn:
        found: LastTurn = await right(*given)
        return found._replace(is_open=False)

    return last_turn


@_plant(session_registry, "last_turn")
def _every_last_turn_is_said_to_be_interrupted(right: Any) -> Any:
    async def last_turn(*given: Any) -> LastTurn:
        found: LastTurn = await right(*given)
        return found._replace(is_open=found.was_prompted)

    return last_turn


@_plant(Turns, "_ended")
def _a_prompt_whose_agent_died_is_sent_again(right: Any) -> Any:
    def ended(self: Any, prompt: Any, answer: Any) -> None:
        if answer.is_lost and prompt.seq in self._sent:
            del self._sent[prompt.seq]
            self._waiting.appendleft(prompt)
            self.send_next()
        else:
            right(self, prompt, answer)

    return ended


@_plant(Turns, "_ended")
def _a_prompt_whose_agent_died_is_never_answered(right: Any) -> Any:
    def ended(self: Any, prompt: Any, answer: Any) -> None:
        if answer.is_lost:
            answer.error = None
        right(self, prompt, answer)

    return ended


@_plant(client_connection, "includes")
def _a_viewer_may_do_everything(right: Any) -> Any:
    return lambda role, needed: True


@_plant(shared_requests, "_may_answer")
def _everybody_is_asked_for_permission(right: Any) -> Any:
    return lambda attachment, shared: True


@_plant(ClientRequests, "answer_behind")
def _an_answer_overtakes_the_updates(right: Any) -> Any:
    def answer_behind(self: Any, seq: int, one: Any, answer: Any) -> None:
        self.answer(one, answer)

    return answer_behind


@_plant(Hop, "settle")
def _an_answer_is_sent_twice(right: Any) -> Any:
    def settle(self: Any, request: Any, result: Any) -> None:
        right(self, request, result)
        self.send(b'{"jsonrpc":"2.0","id":%d,"result":{}}' % request.id)

    return settle


@_plant(AgentProcess, "adopt")
def _a_session_is_put_into_a_process_that_is_gone(right: Any) -> Any:
    def adopt(self: Any, agent_session_id: str, session: Any) -> None:
        why, self.why = self.why, None
        right(self, agent_session_id, session)
        self.why = why

    return adopt


@_plant(AgentProcess, "aclose")
def _processes_outlive_the_gateway(right: Any) -> Any:
    async def aclose(self: Any) -> None:
        pass

    return aclose


@_plant(HostedSession, "_updated")
def _what_an_agent_replays_is_written_again(right: Any) -> Any:
    def updated(self: Any, params: Any) -> None:
        self.is_opening = False
        right(self, params)

    return updated


FOUND_BY = {
    "an_event_is_shown_before_it_is_in_the_log": 1,
    "a_reader_that_is_behind_is_passed_what_is_new": 7,
    "a_reader_that_is_behind_is_not_woken": 13,
    "nobody_waits_for_a_client_that_does_not_read": 7,
    "nobody_is_told_that_an_agent_died_in_a_turn": 2,
    "a_turn_that_a_dead_gateway_ran_is_not_told": 13,
    "every_last_turn_is_said_to_be_interrupted": 48,
    "a_prompt_whose_agent_died_is_sent_again": 2,
    "a_prompt_whose_agent_died_is_never_answered": 2,
    "a_viewer_may_do_everything": 1,
    "everybody_is_asked_for_permission": 7,
    "an_answer_overtakes_the_updates": 55,
    "an_answer_is_sent_twice": 2,
    "a_session_is_put_into_a_process_that_is_gone": 250,
    "processes_outlive_the_gateway": 1,
    "what_an_agent_replays_is_written_again": 2,
}
