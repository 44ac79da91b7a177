"""Keys that were pasted: kept privately, forgotten on request, shown nowhere."""

import stat
from pathlib import Path

import pytest

from accord.builtin.models.api_keys import Credentials, login, provider_named
from accord.builtin.models.providers import Secret
from accord.errors import ConfigError


@pytest.fixture
def keys(tmp_path: Path) -> Credentials:
    """A file that is not there yet, in a folder that is not either."""
    return Credentials(tmp_path / "config" / "credentials.json")


def test_a_key_is_kept_for_the_user_alone(keys: Credentials) -> None:
    """Issue 3: stored with 0600."""
    keys.keep("anthropic", "  key-one\n")
    keys.keep("openai", "key-two")
    assert keys.key("anthropic") == Secret("key-one")
    assert keys.providers() == ["anthropic", "openai"]
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700


def test_logging_out_forgets(keys: Credentials) -> None:
    """Issue 3: logout removes it."""
    keys.keep("anthropic", "key-one")
    keys.keep("openai", "key-two")
    assert keys.forget("anthropic")
    assert not keys.forget("anthropic")
    assert keys.key("anthropic") is None
    assert keys.forget()
    assert keys.providers() == []
    assert "key" not in keys.path.read_text()


@pytest.mark.parametrize("text", ["", "   ", "two words", "x" * 5000, "schlüssel"])
def test_what_is_no_key_is_not_kept(keys: Credentials, text: str) -> None:
    """Ours."""
    with pytest.raises(ConfigError) as caught:
        keys.keep("openai", text)
    assert not keys.path.exists()
    assert not text.strip() or text not in str(caught.value)


@pytest.mark.parametrize("text", ["{secret-text", "[]", "\x00"])
def test_a_damaged_file_is_neither_shown_nor_overwritten(keys: Credentials, text: str) -> None:
    """Ours: what stands in it may be a key."""
    keys.path.parent.mkdir(parents=True)
    keys.path.write_text(text)
    assert keys.key("openai") is None
    assert keys.providers() == []
    with pytest.raises(ConfigError) as caught:
        keys.keep("openai", "key-two")
    assert "secret-text" not in str(caught.value)
    assert keys.path.read_text() == text


def test_a_login_asks_without_showing_and_says_where_the_key_is(keys: Credentials) -> None:
    """Issue 3: terminal login for pasting a key."""
    said: list[str] = []
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "pasted-key"

    assert login("anthropic", ask=ask, say=said.append, credentials=keys)
    assert keys.key("anthropic") == Secret("pasted-key")
    assert "Anthropic" in asked[0]
    assert str(keys.path) in said[-1]
    assert "pasted-key" not in "".join(said)


@pytest.mark.parametrize("fault", [EOFError, KeyboardInterrupt])
def test_a_login_that_is_left_keeps_nothing(keys: Credentials, fault: type[BaseException]) -> None:
    """Ours."""

    def ask(prompt: str) -> str:
        raise fault

    assert not login("openai", ask=ask, say=lambda _: None, credentials=keys)
    assert not login("openai", ask=lambda _: "", say=lambda _: None, credentials=keys)
    assert not keys.path.exists()


def test_a_provider_that_there_is_not_is_answered_with_those_there_are() -> None:
    """Ours."""
    with pytest.raises(ConfigError, match="anthropic, openai, google, ollama"):
        provider_named("acme")
