"""One request to a model, with as many tries as are worth it.

What always holds
    * An answer that has begun is not asked for again: the user would read it twice.
    * Every wait is bounded, told to the user, and ends at once when the turn is cancelled.
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
from accord.builtin.llm.retry import Patience
from accord.builtin.models.model_loader import LoadedModel
from accord.errors import AccordError


@dataclass(frozen=True)
class Question:
    """What a model is asked."""

    messages: Sequence[ModelMessage]
    parameters: ModelRequestParameters
    settings: Mapping[str, Any]


async def ask(
    turn: Turn, loaded: LoadedModel, question: Question, listener: Listener, patience: Patience
) -> ModelResponse:
    """The whole answer, shown by the listener as it comes.

    Raises:
        ModelFailed: there is none, or only a part, which the listener has.
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
        wait = patience.wait(failures, failure.retry_after)
        if listener.has_heard:
            await listener.abandon()
            raise ModelFailed(_broken_off(failure))
        if not failure.passing or wait is None:
            raise ModelFailed(_given_up(failure, failures))
        await _tell(turn, failure, wait, f"{failures} of {patience.tries - 1}")
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
    return replace(failure, sentence=f"The answer broke off. {text}. What was said is kept.")


def _given_up(failure: Failure, tries: int) -> Failure:
    if not failure.passing:
        return failure
    often = "" if tries == 1 else f" after {tries} tries"
    return replace(failure, sentence=f"{failure.sentence}. Given up{often}; try again later.")


__all__ = ["Question", "ask"]
