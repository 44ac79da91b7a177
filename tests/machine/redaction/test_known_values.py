"""Which values of the environment are secrets wherever they stand."""

import pytest

from accord.machine.redaction.known_values import is_known_value, secret_values
from accord.machine.redaction.redactor import Redactor


@pytest.mark.parametrize(
    ("name", "value", "is_known"),
    [
        ("DB_PASSWORD", "correct-horse-battery-staple", True),
        ("API_TOKEN", "ZqFsXabcdGHtRew", True),
        ("API_TOKEN", "disabledforever", False),
        ("SECRET_TOKEN", "/run/secrets/token", False),
        ("GIT_CREDENTIAL_HELPER", "git-credential-manager", False),
        ("EDITOR_NAME", "correct-horse-battery-staple", False),
    ],
)
def test_a_value_of_the_environment_is_known(name: str, value: str, is_known: bool) -> None:
    """docs/reference/secrets.md: secret variables; a password may be of letters alone."""
    assert is_known_value(name, value) is is_known
    shown = Redactor(secret_values({name: value})).text(f"it said {value} twice")
    assert (value not in shown) is is_known
