"""The open requests of the clients of one session, and the order of their answers.

What always holds
    * Each request is answered once: by the agent, or with an error when the session ends.
    * An answer is sent behind every update that came before it.
    * A client that takes a request back is answered, whether or not the agent has the request yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from accord.errors import RequestFailed
from accord.gateway.agents.agent_process import AgentProcess, Answer
from accord.gateway.sessions.attachment import Attachment, Client
from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode
from accord.schema.struct import Raw


class ClientRequest:
    """One request of a client; `take_back` withdraws it, wherever it is."""

    def __init__(self, client: Client, request: OpenRequest) -> None:
        self.client = client
        self.request = request
        self.take_back: Callable[[], None] = lambda: None
        request.run = self

    def sent_to(self, process: AgentProcess, call_id: int) -> None:
        """From now on the agent has it."""
        self.take_back = partial(process.take_back, call_id)


class ClientRequests:
    """Guards: every open request is in it."""

    def __init__(self, attachment_of: Callable[[Client], Attachment | None]) -> None:
        self._attachment_of = attachment_of
        self._open: set[ClientRequest] = set()

    def take(self, client: Client, request: OpenRequest) -> ClientRequest:
        """Take a request of a client."""
        one = ClientRequest(client, request)
        self._open.add(one)
        return one

    def answer_behind(self, seq: int, one: ClientRequest, answer: Answer) -> None:
        """Answer once the client has been sent everything up to a number."""
        attachment = self._attachment_of(one.client)
        if attachment is None:
            self.answer(one, answer)
        else:
            attachment.after(seq, partial(self.answer, one, answer), must=True)

    def answer(self, one: ClientRequest, answer: Answer) -> None:
        """Answer without waiting for updates."""
        self._open.discard(one)
        if answer.error is not None:
            one.request.refuse(*answer.error)
        elif answer.result is not None:
            one.request.answer(answer.result)

    def end(self, answer: Answer) -> None:
        """Answer everything that is still open."""
        for one in list(self._open):
            self.answer(one, answer)


def failure(error: Exception) -> Answer:
    """Return the answer that tells of an error."""
    answer = Answer()
    if isinstance(error, RequestFailed):
        data = None if error.data is None else Raw(encode(error.data))
        answer.failed(error.code, error.message, data)
    else:
        answer.failed(INTERNAL_ERROR, str(error), None)
    return answer
