"""The bounds of remote connections."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from accord.errors import LocalProtocolError
from accord.transport.remote_limits import RemoteLimits


def test_the_defaults_are_valid() -> None:
    """Ours: and the values that the issue names are these."""
    limits = RemoteLimits().checked()
    assert limits.grace_seconds == 60
    assert limits.kept_bytes == 8 * 1024 * 1024
    assert limits.backlog_bytes == 16 * 1024 * 1024
    assert limits.keep_alive_seconds * 2 == limits.silence_seconds == 30


@pytest.mark.parametrize("name", [field.name for field in fields(RemoteLimits)])
@pytest.mark.parametrize("value", [-1, "8", None, True, float("nan")])
def test_a_limit_that_is_no_number_or_too_small_is_refused(name: str, value: object) -> None:
    """Ours: a mistake is told where it is made."""
    limits = replace(RemoteLimits(), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(LocalProtocolError, match=name):
        limits.checked()
