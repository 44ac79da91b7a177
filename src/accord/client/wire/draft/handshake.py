"""The handshake with an agent that may speak the 2026-02 draft of the protocol.

Our usual `initialize` is in a form that such an agent cannot read: it answers in its own shape, or
refuses.  It is then started again and asked in its own form, by the translator.  What was found is
remembered, where there is somebody to remember it, so that the next start is right at once.

What always holds
    * If the second form is refused too, the first error is the one that is raised.
    * What was remembered and is refused is forgotten, and all begins from the top.
    * We say what is there and nothing else; in particular whether somebody can be asked, and what
      our user interface shows.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from accord.client.connection.agent_connection import AgentLink
from accord.client.connection.handshake import first_exchange, initialize_params, judge, shake_hands
from accord.client.connection.implementation import Offer
from accord.client.options import Options, make_offer
from accord.client.wire.draft.translation import Translation
from accord.client.wire.draft.wire import WireDraft
from accord.errors import AccordError, RequestFailed, VersionMismatch
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import Chosen, judge_answer
from accord.schema.struct import Raw
from accord.translate.message import UNREADABLE
from accord.translate.meta_store import DRAFT as DRAFT_KEY

_log = logger("accord.client")

DRAFT = "draft"
V1 = "v1"


class Starter(Protocol):
    """Begins connections to an agent, and remembers the dialect that it speaks."""

    @property
    def link(self) -> AgentLink[Any]: ...

    async def begin(self, handshake: Callable[[AgentLink[Any]], Awaitable[None]]) -> None:
        """Open a connection with this handshake."""
        ...

    def remember_dialect(self, dialect: str, version: str) -> None:
        """Remember the dialect, and the version that the agent reported."""
        ...

    def forget_dialect(self) -> None:
        """Forget what was remembered."""
        ...


class Unfit(VersionMismatch):
    """The agent demands something of its client that this one does not offer."""


class _SpeaksV1(AccordError):
    """The agent answered the draft's form as v1 does: it refused only the mixture."""


async def begin_known(connected: Starter, dialect: str, version: str) -> bool:
    """Begin in the dialect of the last time; if that fails, forget it and return False."""
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
    link.speak_directly()
    await shake_hands(link, make_offer(link.options), (1,))


async def _shake_hands(link: AgentLink[Any]) -> None:
    link.translate(Translation)
    params = initialize_params(draft_offer(link.options), (1,))
    try:
        await first_exchange(link, params, partial(_agree, link))
    except RequestFailed as error:
        if error.reason == "capability_not_supported":
            # The agent has understood us, and names what it requires.
            raise Unfit(f"the agent cannot work with this client: {error.message}") from error
        if error.reason == UNREADABLE and _is_official(error.data.get("answer")):
            raise _SpeaksV1(
                "the agent answered the draft's form in the shape of version 1"
            ) from None
        raise


def _is_official(answer: Any) -> bool:
    verdict = judge_answer(answer, (1,)) if isinstance(answer, dict) else None
    return isinstance(verdict, Chosen) and verdict.dialect != DRAFT


def _agree(link: AgentLink[Any], result: Raw) -> None:
    agreement = judge(result, (1,))
    wire: Any = WireDraft(report=link.connection.tolerate)
    link.settle(wire, wire.agent(agreement.answer))


def draft_offer(options: Options) -> Offer:
    """Our offer, with the abilities that only the draft has words for."""
    offer = make_offer(options)
    terminals: dict[str, Any] = {"interactive": False}
    at_once = getattr(options.terminals, "count_max", None)
    if isinstance(at_once, int):
        terminals["maxConcurrent"] = at_once
    told = {
        "fs": {"watch": False},
        "terminal": terminals,
        "ui": {
            # Whether it is of use to ask.  An object of the program's own decides in ways that we
            # cannot know.
            "permissionDialogs": getattr(options.permissions, "can_allow", True),
            "diffViewer": "diff_viewer" in options.draft.ui,
            "codeNavigation": "code_navigation" in options.draft.ui,
        },
    }
    meta = {**offer.v1.get("_meta", {}), DRAFT_KEY: told}
    return replace(offer, v1={**offer.v1, "_meta": meta})
