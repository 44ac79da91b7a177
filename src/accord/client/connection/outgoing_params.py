"""Encodes values of the program; one without a JSON form raises before anything is sent.

Must not know: the form of any message.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from accord.errors import LocalProtocolError
from accord.schema import codec


def encode(value: object) -> bytes:
    """The JSON of a value that the program handed over.

    Raises:
        LocalProtocolError: a part of the value has no JSON form.
    """
    with blaming_caller():
        return codec.encode(value)


@contextmanager
def blaming_caller() -> Generator[None]:
    """Turn errors of the codec in this block into errors of the program."""
    try:
        yield
    except codec.Invalid as error:
        raise LocalProtocolError(f"this cannot be sent: {error}") from None
    except UnicodeEncodeError as error:
        raise LocalProtocolError(
            f"this text cannot be sent: {error.object[error.start]!a} at {error.start} is a lone"
            " surrogate, as in file names that are not UTF-8"
        ) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LocalProtocolError(f"this cannot be sent as JSON: {error}") from None
