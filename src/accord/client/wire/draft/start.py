"""Beginning with an agent that may speak the 2026-02 draft of the protocol.

Our usual `initialize` is in a form that such an agent cannot read: it answers in its own shape, or
refuses.  It is then started again and asked in its own form.  What was found is remembered, where
there is somebody to remember it, so that the next start is right at once.

What always holds
    * If the second form is refused too, the first error is the one that is raised.
    * What was remembered and is refused is forgotten, and all begins from the top.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

from accord.client.connection.agent_connection import AgentLink
from accord.client.options import make_offer
from accord.client.wire.draft.offer import (
    Unfit,
    check_required,
    draft_capabilities,
    draft_initialize,
)
from accord.client.wire.draft.wire import WireDraft
from accord.connection.dialect import Dialect
from accord.errors import AccordError, RemoteProtocolError, RequestFailed, VersionMismatch
from accord.machine.logs import logger
from accord.protocol.negotiation import Refused, judge_answer
from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw
from accord.translate.draft.vocabulary import from_draft_error, to_draft_error

_log = logger("accord.client")

DRAFT = "draft"
V1 = "v1"


class Starter(Protocol):
    """Begins connections to an agent, and remembers the dialect that it speaks."""

    @property
    def link(self) -> AgentLink[Any]: ...

    async def begin(self, shake_hands: Callable[[AgentLink[Any]], Awaitable[None]]) -> None:
        """Open a connection with this handshake."""
        ...

    def remember_dialect(self, dialect: str, version: str) -> None:
        """Remember the dialect, and the version that the agent reported."""
        ...

    def forget_dialect(self) -> None:
        """Forget what was remembered."""
        ...


class _SpeaksV1(AccordError):
    """The agent answered the draft's form as v1 does: it refused only the mixture."""


async def begin_known(connected: Starter, dialect: str, version: str) -> bool:
    """Begin as it was right the last time; False when it is not any more, which is forgotten."""
    try:
        if dialect == DRAFT:
            await connected.begin(_shake_hands)
        elif dialect == V1:
            await connected.begin(_shake_hands_in_v1)
        else:
            connected.forget_dialect()
            return False
    except Unfit:
        raise
    except AccordError as error:
        _log.info("the agent does not speak the %s that it spoke before: %s", dialect, error)
        connected.forget_dialect()
        return False
    if _version_of(connected) != version:
        # A new version may speak something better: the next start finds out.
        connected.forget_dialect()
    return True


async def begin_in_draft(connected: Starter, first: Exception | None) -> None:
    """Begin once more, in the draft's form; `first` is what the usual form was refused with."""
    try:
        try:
            await connected.begin(_shake_hands)
            dialect = DRAFT
        except _SpeaksV1:
            await connected.begin(_shake_hands_in_v1)
            dialect = V1
    except Unfit:
        raise
    except AccordError as error:
        if first is None:
            raise
        _log.info("the agent refuses the form of the draft as well: %s", error)
        raise first from None
    connected.remember_dialect(dialect, _version_of(connected))


def _version_of(connected: Starter) -> str:
    info = connected.link.facts.info
    return "" if info is None else info.version


async def _shake_hands_in_v1(link: AgentLink[Any]) -> None:
    link.connection.agree_on(None)
    await link.shake_hands(make_offer(link.options), (1,))


async def _shake_hands(link: AgentLink[Any]) -> None:
    # From here on: a refusal has the draft's numbers, and nothing can be taken back.
    link.connection.agree_on(Dialect(_error_out, _error_in))
    try:
        await link.first_exchange(draft_initialize(link.options), partial(_agree, link))
    except RequestFailed as error:
        if error.reason == "capability_not_supported":
            # It has understood us, and tells what it cannot do without.
            raise Unfit(f"the agent cannot work with this client: {error.message}") from error
        raise


def _agree(link: AgentLink[Any], result: Raw) -> None:
    answer = _read(result)
    verdict = judge_answer(answer, (1,))
    if isinstance(verdict, Refused):
        raise VersionMismatch(verdict.message)
    if verdict.dialect != "draft":
        raise _SpeaksV1("the agent answered the draft's form in the shape of version 1")
    wire = WireDraft(strict=link.options.strict, report=link.connection.tolerate)
    facts = wire.agent(answer)
    check_required(answer.get("requiredClientCapabilities"), draft_capabilities(link.options))
    link.settle(wire, facts)


def _read(result: Raw) -> dict[str, Any]:
    try:
        answer = to_python(result)
    except Invalid as error:
        raise RemoteProtocolError(f"the answer to initialize is unreadable: {error}") from None
    if not isinstance(answer, dict):
        raise RemoteProtocolError("the answer to initialize is not an object")
    return answer


def _error_out(method: str, code: int, data: Any) -> tuple[int, Any]:
    return to_draft_error(code, data, named_session=method.startswith("session/"))


def _error_in(method: str, code: int, data: Any) -> tuple[int, Any]:
    return from_draft_error(code, data)


__all__ = ["begin_in_draft", "begin_known"]
