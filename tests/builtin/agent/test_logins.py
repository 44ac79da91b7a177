"""Models that are found, models that lack a key, and the way to one."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from accord.cli.main import main
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import raw_client
from tests.builtin.agent.turns import begin, made, option, say

AUTHENTICATION_REQUIRED = -32000


def configure(home: Path, text: str) -> dict[str, str]:
    """Write the user's configuration; the environment that points there."""
    folder = home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)
    return {"ACCORD_CONFIG_DIR": str(folder)}


async def test_without_a_chosen_model_there_is_no_login() -> None:
    """Ours: some clients log in whenever there is a way to."""
    async with raw_client(made()) as client:
        assert client.frames[0]["result"]["authMethods"] == []


@pytest.mark.parametrize("terminals", [True, False])
async def test_a_chosen_provider_without_a_key_has_logins(
    terminals: bool, tmp_path: Path, home: Path
) -> None:
    """Issue 3: authMethods when a chosen provider has no key; the session works all the same."""
    environ = configure(home, '[model]\nname = "claude-sonnet-4-5"\n')
    capabilities: dict[str, Any] = {"auth": {"terminal": True}} if terminals else {}
    async with raw_client(made(environ), capabilities=capabilities) as client:
        methods = client.frames[0]["result"]["authMethods"]
        ids = ["anthropic-login", "anthropic-key"] if terminals else ["anthropic-key"]
        assert [method["id"] for method in methods] == ids
        if terminals:
            assert (methods[0]["type"], methods[0]["args"]) == (
                "terminal",
                ["--login", "anthropic"],
            )
        result = await begin(client, tmp_path)
        session = result["sessionId"]
        assert option(result, "model")["currentValue"] == "anthropic:claude-sonnet-4-5"
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
        error = await client.error("session/prompt", prompt)
        assert error["code"] == AUTHENTICATION_REQUIRED
        assert "ANTHROPIC_API_KEY" in error["message"]
        assert [one["methodId"] for one in error["data"]["authMethods"]] == ids
        error = await client.error("authenticate", {"methodId": "anthropic-key"})
        assert "there is no key for Anthropic yet" in error["message"] + str(error["data"])
        await say(client, session, "/help")


async def test_a_key_that_was_pasted_meanwhile_is_found_and_forgotten_at_logout(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 3: terminal login for pasting a key (stored with 0600), logout."""
    environ = configure(home, '[model]\nname = "claude-sonnet-4-5"\n')
    async with raw_client(made(environ)) as client:
        await begin(client, tmp_path)
        monkeypatch.setattr("sys.stdin", StringIO("sk-ant-secret-1234\n"))
        assert main(["agent", "--login", "anthropic"]) == 0
        kept = home / "config" / "credentials.json"
        assert kept.stat().st_mode & 0o777 == 0o600
        assert "sk-ant-secret-1234" not in capsys.readouterr().out
        assert await client.result("authenticate", {"methodId": "anthropic-key"}) == {}
        assert await client.result("logout", {}) == {}
        assert json.loads(kept.read_text()) == {}


async def test_a_key_in_the_environment_offers_models_and_what_they_take(tmp_path: Path) -> None:
    """Issue 3: found from environment variables; images advertised exactly where they are taken."""
    async with raw_client(made({"ANTHROPIC_API_KEY": "sk-ant-1"})) as client:
        offered = client.frames[0]["result"]
        assert offered["authMethods"] == []
        assert offered["agentCapabilities"]["promptCapabilities"]["image"] is True
        result = await begin(client, tmp_path)
        model = option(result, "model")
        groups = {group["name"]: len(group["options"]) for group in model["options"]}
        assert groups["Accord"] == 1
        assert groups["Anthropic"] >= 1
        assert model["currentValue"].startswith("anthropic:")


async def test_offline_is_a_choice_that_wins_over_a_key(tmp_path: Path) -> None:
    """Ours: `--model offline`."""
    async with raw_client(made({"ANTHROPIC_API_KEY": "sk-ant-1"}, model="offline")) as client:
        capabilities = client.frames[0]["result"]["agentCapabilities"]
        assert "image" not in capabilities["promptCapabilities"]
        assert option(await begin(client, tmp_path), "model")["currentValue"] == "offline"


@pytest.mark.parametrize("arguments", [["--login", "nobody"], ["--logout", "nobody"]])
def test_an_unknown_provider_is_a_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: it names those there are."""
    assert main(["agent", *arguments]) == 1
    assert "there is no provider 'nobody'; known providers: anthropic" in capsys.readouterr().err


async def test_a_key_that_comes_with_a_login_of_the_draft_is_kept_in_its_file_alone(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 5: credentials go to the credential store and nowhere else."""
    environ = configure(home, '[model]\nname = "claude-sonnet-4-5"\n')
    key = "sk-ant-secret-1234"
    async with draft_client(made(environ)) as client:
        for method, credentials in (
            ("api_key", {"token": key}),
            ("api_key", {"apiKey": f"{key} and more"}),
            ("oauth2", {"apiKey": key}),
        ):
            params = {"method": method, "credentials": credentials}
            result = await client.result("authenticate", params)
            assert result["success"] is False
            assert key not in result["error"]
        params = {"method": "api_key", "credentials": {"apiKey": key}}
        assert await client.result("authenticate", params) == {"success": True}
        kept = home / "config" / "credentials.json"
        assert json.loads(kept.read_text()) == {"anthropic": key}
        assert kept.stat().st_mode & 0o777 == 0o600
        assert key not in json.dumps(client.frames)
    shown = capfd.readouterr()
    assert key not in shown.out + shown.err
    others = [path for path in home.rglob("*") if path.is_file() and path != kept]
    assert not any(key.encode() in path.read_bytes() for path in others)
