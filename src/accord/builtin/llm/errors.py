"""Failures of a model: a sentence for the user and a decision for the program.

What always holds
    * Every exception of the model library is one of these, known or not.
    * A sentence names who failed and what to do; no key is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic_ai import exceptions

from accord.builtin.models.providers import ModelChoice
from accord.errors import RequestError
from accord.machine.redaction.redactor import Redactor

SAID_CHARACTERS_MAX = 300
KEY_CHARACTERS_MIN = 4
MODEL_FAILED = -32603

Kind = Literal[
    "auth_required",
    "rate_limited",
    "quota_exceeded",
    "model_unavailable",
    "model_unreachable",
    "model_timed_out",
    "context_overflow",
    "request_rejected",
    "model_missing",
    "bad_answer",
]


@dataclass(frozen=True)
class Failure:
    """One failure.  `passing` ones are worth another try."""

    kind: Kind
    sentence: str
    passing: bool = False
    retry_after: float | None = None


class ModelFailed(Exception):
    """A request to a model failed, or its answer was cut off."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure

    def as_answer(self) -> RequestError:
        """The error for the client."""
        failure = self.failure
        if failure.kind == "auth_required":
            return RequestError.authentication_required(failure.sentence)
        if failure.kind == "rate_limited":
            return RequestError.rate_limited(failure.sentence, failure.retry_after)
        return RequestError(MODEL_FAILED, failure.sentence, {"reason": failure.kind})


def failure_of(error: Exception, choice: ModelChoice) -> Failure:
    """Classify an exception of the model library."""
    who = choice.group
    said = _said(error, choice)
    after = getattr(error, "retry_after", None)
    match error:
        case exceptions.ModelAuthenticationError():
            return Failure("auth_required", _login(choice, said))
        case exceptions.ModelQuotaExceededError():
            return Failure(
                "quota_exceeded", f"The account with {who} has no quota left{said}. {_OTHER}"
            )
        case exceptions.ModelRateLimitError():
            sentence = f"{who} accepts no more requests for now (429){said}"
            return Failure("rate_limited", sentence, True, after)
        case exceptions.ModelOverloadedError() | exceptions.ModelUnavailableError():
            return Failure("model_unavailable", f"{who} is overloaded{said}", True, after)
        case exceptions.ModelServerError():
            return Failure("model_unavailable", f"{who} failed{_status(error)}{said}", True, after)
        case exceptions.ModelContextWindowExceededError():
            return Failure(
                "context_overflow", f"The conversation is too long for {choice.model}{said}."
            )
        case exceptions.ModelNotFoundError():
            return Failure("model_missing", f"{who} has no model {choice.model!r}{said}. {_OTHER}")
        case exceptions.ModelTimeoutError() | exceptions.ModelRequestTimeout() | TimeoutError():
            return Failure("model_timed_out", f"{who} did not answer in time. Try again.")
        case exceptions.ModelConnectionError(phase="connect") if choice.base_url is not None:
            # Waiting does not start a private server.
            return Failure("model_unreachable", _unreachable(choice, said) + ". Is it running?")
        case exceptions.ModelConnectionError():
            return Failure("model_unreachable", _unreachable(choice, said), True)
        case exceptions.ModelHTTPError(status_code=status) if status >= 500:
            return Failure("model_unavailable", f"{who} failed ({status}){said}", True, after)
        case exceptions.ModelHTTPError() | exceptions.ModelRequestRejectedError():
            return Failure(
                "request_rejected", f"{who} refused the request{_status(error)}{said}. {_OTHER}"
            )
        case _:
            return Failure(
                "bad_answer", f"{who} sent an answer that cannot be read{said}. Try again."
            )


_OTHER = "Choose another model, or “offline”."


def _login(choice: ModelChoice, said: str) -> str:
    if choice.key is None:
        return f"{choice.group} needs a key. {choice.about.ways_to_key()}"
    refused = f"{choice.group} does not accept the key ({choice.found or 'given'}){said}"
    return f"{refused}. {choice.about.ways_to_key(another=True)}"


def _unreachable(choice: ModelChoice, said: str) -> str:
    where = choice.shown_address or choice.group
    return f"The connection to {where} failed{said}"


def _status(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f" ({status})" if isinstance(status, int) else ""


def _said(error: Exception, choice: ModelChoice) -> str:
    """The server's own message, as the end of a clause."""
    text = _message(getattr(error, "body", None)) or ""
    if not text and not isinstance(error, exceptions.ModelHTTPError):
        text = str(error) or type(error).__name__
    if isinstance(error, exceptions.ModelConnectionError):
        text = _cause(error)
    key = "" if choice.key is None else choice.key.reveal()
    # Private servers get keys such as "x", which may be part of any word.
    keys = (key,) if len(key) >= KEY_CHARACTERS_MIN else ()
    words = " ".join(Redactor(keys).line(text).split()).rstrip(".")
    if len(words) > SAID_CHARACTERS_MAX:
        words = words[:SAID_CHARACTERS_MAX] + "…"
    return f": {words}" if words else ""


def _cause(error: BaseException) -> str:
    """The message of the innermost cause, which says most."""
    while error.__cause__ is not None:
        error = error.__cause__
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _message(body: object) -> str | None:
    """The text in an error's body, wherever the provider puts it."""
    if isinstance(body, str):
        return body
    if isinstance(body, dict):
        for key in ("message", "error", "detail"):
            found = _message(body.get(key))
            if found:
                return found
    return None
