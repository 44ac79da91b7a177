"""One request to a model, with retries.

What always holds
    * A request whose answer has begun is not retried: the user would read it twice.
    * Every wait is bounded, shown to the user, and ends when the turn is cancelled.
    * Whatever the model library raises becomes `ModelFailed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from accord.agent.turn import Turn
from accord.builtin.llm.answer_stream import Listener
from accord.builtin.llm.errors import Failure, ModelFailed, failure_of
from accord.builtin.models.model_loader import LoadedModel
from accord.errors import AccordError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed request is retried.  Waits double, unless the server names a wait."""

    tries: int = 5
    first_seconds: float = 2.0
    seconds_max: float = 60.0

    def wait(self, failures: int, asked: float | None) -> float | None:
        """Seconds to wait after this many failures; None means give up."""
        if failures >= self.tries:
            return None
        if asked is not None:
            # A server that asks for a longer wait is reported in the failure.
            return max(0.0, asked) if asked <= self.seconds_max else None
        seconds: float = self.first_seconds * 2 ** (failures - 1)
        return min(self.seconds_max, seconds)


@dataclass(frozen=True)
class Question:
    """The messages, tools and settings of one request to a model."""

    messages: Sequence[ModelMessage]
    parameters: ModelRequestParameters
    settings: Mapping[str, Any]


async def ask(
    turn: Turn, loaded: LoadedModel, question: Question, listener: Listener, retry: RetryPolicy
) -> ModelResponse:
    """Return the whole answer; the listener gets it as it comes.

    Raises:
        ModelFailed: there is no answer, or only the part that the listener has.
    """
    failures = 0
    while True:
        try:
            return await _ask_once(loaded, question, listener)
        except AccordError:
            # Ours: the client is gone, or the turn is over.
            raise
        except Exception as error:  # noqa: BLE001 - whatever a model library comes up with
            failure = failure_of(error, loaded.choice)
        failures += 1
        wait = retry.wait(failures, failure.retry_after)
        if listener.has_heard:
            await listener.abandon()
            raise ModelFailed(_broken_off(failure))
        if not failure.passing or wait is None:
            raise ModelFailed(_given_up(failure, failures))
        await _tell(turn, failure, wait, f"{failures} of {retry.tries - 1}")
        await anyio.sleep(wait)


async def _ask_once(loaded: LoadedModel, question: Question, listener: Listener) -> ModelResponse:
    async with model_request_stream(
        loaded.model,
        question.messages,
        model_settings=cast("ModelSettings", dict(question.settings)),
        model_request_parameters=question.parameters,
    ) as stream:
        async for event in stream:
            await listener.hear(event)
    response = stream.get()
    if not response.parts and response.finish_reason is None:
        raise ValueError("it was empty")
    return response


async def _tell(turn: Turn, failure: Failure, wait: float, count: str) -> None:
    sentence = f"{failure.sentence}. Trying again in {wait:.0f} s ({count})."
    if turn.session.features.notices:
        await turn.notice("warning", sentence)
    else:
        await turn.think(sentence)


def _broken_off(failure: Failure) -> Failure:
    text = failure.sentence.rstrip(".")
    return replace(
        failure, sentence=f"The answer was cut off. {text}. The part that arrived is kept."
    )


def _given_up(failure: Failure, tries: int) -> Failure:
    if not failure.passing:
        return failure
    often = "" if tries == 1 else f" after {tries} tries"
    return replace(failure, sentence=f"{failure.sentence}. Gave up{often}; try again later.")
