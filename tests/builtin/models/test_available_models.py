"""Which models there are to choose from, by environment, configuration and stored keys."""

from pathlib import Path

import pytest

from accord.builtin.models.api_keys import Credentials
from accord.builtin.models.available_models import (
    KNOWN_MODELS,
    default_choice,
    find_models,
    is_guess,
    named_choice,
    servers_to_ask,
)
from accord.builtin.models.providers import ModelChoice, Secret
from accord.builtin.models.server_addresses import wrong_addresses
from accord.configuration.config_file import Config, ModelSettings


@pytest.fixture
def keys(tmp_path: Path) -> Credentials:
    """Stored keys, of which there are none."""
    return Credentials(tmp_path / "credentials.json")


def config(**model: object) -> Config:
    """A configuration of a model."""
    return Config(model=ModelSettings(**model))  # type: ignore[arg-type]


def test_without_anything_there_is_no_model(keys: Credentials) -> None:
    """Issue 3: useful with no key."""
    assert find_models(Config(), {}, credentials=keys) == []
    assert default_choice([], Config(), {}, named=None) is None


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("OPENAI_API_KEY", "openai"),
        ("GEMINI_API_KEY", "google"),
        ("GOOGLE_API_KEY", "google"),
    ],
)
def test_a_key_in_the_environment_offers_the_providers_models(
    variable: str, provider: str, keys: Credentials
) -> None:
    """Issue 3: found from environment variables; the first one is where sessions begin."""
    found = find_models(Config(), {variable: " secret-key "}, credentials=keys)
    assert [choice.model for choice in found] == list(KNOWN_MODELS[provider])
    assert found[0].key == Secret("secret-key")
    assert found[0].found == f"key from {variable}"
    assert default_choice(found, Config(), {}, named=None) is found[0]


def test_a_model_that_is_named_comes_first(keys: Credentials) -> None:
    """Ours: command line over variable over file."""
    environ = {"ANTHROPIC_API_KEY": "k", "ACCORD_MODEL": "openai:gpt-6-luna"}
    file = config(name="gemini-2.5-pro")
    by_line = find_models(file, environ, named="ollama:qwen3", credentials=keys)
    by_variable = find_models(file, environ, credentials=keys)
    by_file = find_models(file, {}, credentials=keys)
    assert [by_line[0].value, by_variable[0].value, by_file[0].value] == [
        "ollama:qwen3",
        "openai:gpt-6-luna",
        "google:gemini-2.5-pro",
    ]
    assert default_choice(by_variable, file, environ, named=None) is by_variable[0]
    assert not by_variable[0].is_usable
    assert default_choice(by_variable, file, environ, named="offline") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("gemini-flash-latest", "google:gemini-flash-latest"),
        ("gpt-6.1-sol", "openai:gpt-6.1-sol"),
        ("gpt-oss:20b", "ollama:gpt-oss:20b"),
        ("qwen3:8b", "ollama:qwen3:8b"),
        ("offline", None),
    ],
)
def test_a_name_alone_says_whose_model_it_is(
    name: str, value: str | None, keys: Credentials
) -> None:
    """Ours."""
    choice = named_choice(Config(), {}, named=name, credentials=keys)
    assert (None if choice is None else choice.value) == value


def test_a_server_of_ones_own_is_spoken_to_as_openai(keys: Credentials) -> None:
    """Issue 3: an OpenAI-compatible base URL, which needs no key."""
    file = config(name="my-model", base_url="http://gpu:8000/v1/", context_window=9000)
    choice = named_choice(file, {}, credentials=keys)
    assert choice == ModelChoice("openai", "my-model", "http://gpu:8000/v1", context_window=9000)
    assert choice is not None
    assert choice.is_usable


def test_a_server_in_front_of_a_provider_has_the_models_of_the_provider(keys: Credentials) -> None:
    """Ours: ANTHROPIC_BASE_URL is a gateway, and its user has the key for Claude."""
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://gateway.test"}
    found = find_models(Config(), environ, credentials=keys)
    assert [one.model for one in found] == list(KNOWN_MODELS["anthropic"])
    assert {one.base_url for one in found} == {"http://gateway.test"}
    assert default_choice(found, Config(), environ, named=None) is found[0]


def test_the_configuration_may_name_the_variable_of_the_key(keys: Credentials) -> None:
    """Ours: keys are not written into the file."""
    file = config(name="x", provider="openai", api_key_env="MY_KEY")
    choice = named_choice(file, {"MY_KEY": "abc", "OPENAI_API_KEY": "no"}, credentials=keys)
    assert choice is not None
    assert choice.key == Secret("abc")


def test_a_login_wins_over_the_environment(keys: Credentials) -> None:
    """Ours: it is how a person gets past a variable with an old key."""
    keys.keep("anthropic", "pasted-key")
    found = find_models(Config(), {"ANTHROPIC_API_KEY": "old"}, credentials=keys)
    assert (found[0].key, found[0].found) == (Secret("pasted-key"), "key from a login")


def listed(*models: str, **more: object) -> list[ModelChoice]:
    """What a server answered."""
    given = {"provider": "openai", "base_url": "http://gpu:1/v1", **more}
    return [ModelChoice(model=model, **given) for model in models]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (("mine", "other"), "mine"),
        (("nomic-embed-text", "mine"), "mine"),
        (("whisper-1", "gpt-77", "gpt-6-luna"), "gpt-6-luna"),
        (("zzz", "gpt-77"), "gpt-77"),
        (("nomic-embed-text",), None),
    ],
)
def test_sessions_begin_with_a_model_of_a_server_that_lists_some(
    models: tuple[str, ...], chosen: str | None, keys: Credentials
) -> None:
    """Issue 14: a base URL, or a running server, alone is enough."""
    environ, answers = {"OPENAI_BASE_URL": "http://gpu:1/v1"}, listed(*models)
    found = find_models(Config(), environ, credentials=keys, listed=answers)
    choice = default_choice(found, Config(), environ, named=None, listed=answers)
    assert (None if choice is None else choice.model) == chosen


def test_of_several_keys_the_first_provider_wins_wherever_its_server_is(keys: Credentials) -> None:
    """Issue 14: Anthropic, OpenAI, Google, Ollama, then what was auto-detected."""
    environ = {
        "GEMINI_API_KEY": "g",
        "OPENAI_API_KEY": "o",
        "OPENAI_BASE_URL": "http://gpu:1/v1",
    }
    answers = [*listed("llama", provider="ollama", server="x:1"), *listed("mine")]
    found = find_models(Config(), environ, credentials=keys, listed=answers)
    choice = default_choice(found, Config(), environ, named=None, listed=answers)
    assert choice is not None
    assert choice.value == "openai:mine"
    assert [one.provider for one in found][-1] == "ollama"


@pytest.mark.parametrize("name", ["mine", "openai@gpu:1:mine"])
def test_a_name_alone_is_looked_for_among_what_servers_list(name: str, keys: Credentials) -> None:
    """Issue 14: ACCORD_MODEL=mine, and LM Studio has it."""
    answers = listed("other", "mine", server="gpu:1")
    choice = named_choice(Config(), {}, named=name, credentials=keys, listed=answers)
    assert choice == answers[1]


def test_an_unknown_name_is_of_the_server_that_the_user_named(keys: Credentials) -> None:
    """Issue 14: it was asked of an Ollama that nobody had."""
    environ = {"OPENAI_BASE_URL": "http://gpu:1/v1"}
    choice = named_choice(Config(), environ, named="mine", credentials=keys)
    assert choice is not None
    assert (choice.value, choice.base_url) == ("openai:mine", "http://gpu:1/v1")
    assert not is_guess(Config(), environ, "mine")
    assert is_guess(Config(), {}, "mine")
    assert not is_guess(Config(), {}, "ollama:mine")


def test_an_address_of_the_provider_itself_changes_nothing(keys: Credentials) -> None:
    """Issue 14: OPENAI_BASE_URL=https://api.openai.com/v1."""
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://api.openai.com/v1"}
    found = find_models(Config(), environ, credentials=keys)
    assert [one.model for one in found] == list(KNOWN_MODELS["openai"])
    assert servers_to_ask(Config(), environ, credentials=keys) == {}


@pytest.mark.parametrize("text", ["host:x", "ftp://host", "http://[::1"])
def test_what_is_no_address_is_told_and_left_out(text: str, keys: Credentials) -> None:
    """Issue 14: it ended every session with an internal error."""
    environ = {"OLLAMA_HOST": text}
    assert find_models(Config(), environ, credentials=keys) == []
    (said,) = wrong_addresses(environ)
    assert said.startswith("OLLAMA_HOST is ")


def test_a_key_for_the_server_in_the_file_is_sent_to_nobody_else(keys: Credentials) -> None:
    """Ours: api_key_env beside a base_url without a provider went to Anthropic."""
    file = config(base_url="http://gpu:8000/v1", api_key_env="GPU_KEY")
    assert find_models(file, {"GPU_KEY": "abc"}, credentials=keys) == []
    (server,) = servers_to_ask(file, {"GPU_KEY": "abc"}, credentials=keys).values()
    assert server.key == Secret("abc")


def test_no_choice_shows_its_key() -> None:
    """Issue 3: keys are never in logs."""
    choice = ModelChoice("openai", "m", key=Secret("top-secret"))
    assert "top-secret" not in f"{choice!r} {choice.key!r} {choice.key}"
