"""Where servers of models are."""

import pytest

from accord.builtin.models.providers import PROVIDERS
from accord.builtin.models.server_addresses import full_address


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box:9999", "http://box:9999/v1"),
        ("http://[::1]:5", "http://[::1]:5/v1"),
        ("https://ollama.example", "https://ollama.example:443/v1"),
        ("http://box:1/v1/", "http://box:1/v1"),
        (":9999", "http://127.0.0.1:9999/v1"),
    ],
)
def test_the_address_of_ollama_is_taken_as_people_write_it(written: str, address: str) -> None:
    """Ours: OLLAMA_HOST is what its server listens on."""
    assert full_address(written, PROVIDERS["ollama"]) == address
