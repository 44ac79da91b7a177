"""Choices that cannot be are named where they are made, with the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client import Client
from accord.client.credential import Credential
from accord.client.options import DraftOptions, make_options
from accord.client.permissions.permissions import Permissions
from accord.client.services.elicitation import Elicitations
from accord.client.services.files import FileService
from accord.client.services.terminals import TerminalService
from accord.connection.limits import Limits
from accord.errors import LocalProtocolError, SpawnFailed


@pytest.mark.parametrize(
    ("chosen", "hint"),
    [
        (lambda request: True, r"Permissions\.ask\(callback\)"),
        (True, r"Permissions\.allow_all\(\)"),
        (False, r"Permissions\.deny_all\(\)"),
        (Permissions, r"make one: Permissions\(\)"),
        ("allow", r"Permissions\.ask\(callback\)"),
        (Permissions.allow_all, r"call it: Permissions\.allow_all\(\)"),
    ],
)
def test_permissions_are_an_object_that_decides(chosen: Any, hint: str) -> None:
    """Ours: what was meant as a yes or as a callback must not fail at the first question."""
    with pytest.raises(LocalProtocolError, match=hint):
        Client.spawn("agent", permissions=chosen)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"files": object()}, "read_text or write_text"),
        ({"files": FileService}, "read_text or write_text"),
        ({"terminals": object()}, "create, output, wait_for_exit"),
        ({"terminals": TerminalService}, "create, output, wait_for_exit"),
        ({"elicitation": lambda form: None}, r"Elicitations\(on_form="),
        ({"elicitation": Elicitations}, r"Elicitations\(on_form="),
        ({"versions": 1}, r"a list such as \[1\]"),
        ({"versions": "12"}, r"a list such as \[1\]"),
        ({"versions": []}, "some of"),
        ({"versions": [3]}, "some of"),
        ({"retry": "x"}, "retry= takes how often"),
        ({"retry": -1}, "retry= takes how often"),
        ({"retry": True}, "retry= takes how often"),
        ({"limits": 5}, "limits= takes Limits"),
        ({"limits": Limits(depth=0)}, "the limit depth"),
        ({"login": 5}, "login= takes the id"),
        ({"framing": "xml"}, "lines or content-length"),
        ({"info": "me"}, "info= takes an Implementation"),
        ({"strict": "no"}, "strict= takes True or False"),
        ({"unstable": 1}, "unstable= takes True or False"),
        ({"cwd": 5}, "cwd= takes a folder"),
        ({"env": 5}, "env= takes a mapping"),
        ({"env": {"A": 1}}, "env= takes a mapping"),
        ({"stderr": 5}, "stderr= takes a function"),
        ({"login_terminal": 5}, "login_terminal= takes True"),
        ({"extensions": {}}, "extensions= takes an Extensions"),
        ({"on_auth_status": 1}, "on_auth_status= takes a function"),
        ({"traffic": "yes"}, "traffic= takes a function"),
    ],
)
def test_other_choices_are_checked_too(options: dict[str, Any], hint: str) -> None:
    """Ours: before anything is started."""
    with pytest.raises(LocalProtocolError, match=hint):
        Client.spawn("agent", **options)


@pytest.mark.parametrize("service", [True, False, None])
def test_services_may_be_switched(service: Any) -> None:
    """Ours: True is ours, False is none."""
    Client.spawn("agent", files=service, terminals=service)


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (
            (["python", "agent.py"],),
            r"list is not a word; for a list, write Client\.spawn\(\*words\)",
        ),
        ((5,), "int is not a word"),
        ((), "empty"),
        (("", "agent.py"), "empty"),
    ],
)
def test_a_command_is_given_word_by_word(command: tuple[Any, ...], hint: str) -> None:
    """Ours."""
    with pytest.raises(LocalProtocolError, match=hint):
        Client.spawn(*command)


async def test_a_command_in_one_word_is_explained(tmp_path: Path) -> None:
    """Ours: `no such program` alone does not say what was wrong."""
    with pytest.raises(SpawnFailed, match=r"one argument per word: Client\.spawn\('no', 'such'\)"):
        await Client.spawn("no such").__aenter__()
    missing = str(tmp_path / "missing")
    with pytest.raises(SpawnFailed) as caught:
        await Client.spawn(missing).__aenter__()
    assert "per word" not in str(caught.value)


async def test_a_url_given_to_spawn_names_the_function_for_it() -> None:
    """Ours: and what may be a secret in it is not shown."""
    with pytest.raises(SpawnFailed, match=r"a URL and no program; write Client\.connect") as failed:
        async with Client.spawn("wss://ann:hunter2@a.example/acp?key=hunter2"):
            pass
    assert "hunter2" not in str(failed.value)


def test_a_client_that_was_not_entered_says_how() -> None:
    """Ours: whoever forgets `async with` asks the wrong object for a session."""
    client: Any = Client.spawn("agent")
    with pytest.raises(AttributeError, match=r"async with Client\.spawn\(\.\.\.\) as client"):
        client.new_session()
    assert not hasattr(client, "sessions")


@pytest.mark.parametrize("transport", [5, None, "agent", object()])
def test_a_client_is_connected_by_a_transport(transport: Any) -> None:
    """Ours."""
    with pytest.raises(LocalProtocolError, match=r"Client\.spawn"):
        Client.connect(transport)


@pytest.mark.parametrize("callback", [None, "x", 5])
def test_only_what_can_be_asked_is_taken_for_the_user(callback: Any) -> None:
    """Ours: a callback that was left out must not become a silent no."""
    with pytest.raises(ValueError, match="is not callable"):
        Permissions.ask(callback)


def test_the_old_keywords_for_draft_agents_still_work() -> None:
    """CONTRIBUTING: a deprecated form works for one major version, and names its successor."""
    key = Credential.api_key("k")
    with pytest.warns(DeprecationWarning, match=r"write draft=DraftOptions\(credential=\.\.\.\)"):
        made = make_options({"credential": key})  # type: ignore[typeddict-unknown-key]
    assert made.draft == DraftOptions(credential=key)
    with pytest.warns(DeprecationWarning, match="address="):
        Client.connect(lambda: None, address="here")  # type: ignore[call-arg, arg-type, return-value]


def test_a_permissions_object_that_is_not_told_the_real_path_is_refused() -> None:
    """Ours: otherwise nothing protects against links that are swapped while the user is asked."""

    class Blind:
        async def decide(self, request: object) -> object: ...

        async def may_write(self, session_id: str, path: str) -> bool:
            return True

    with pytest.raises(LocalProtocolError, match="swapped links"):
        make_options({"permissions": Blind()})  # type: ignore[typeddict-item]


def test_files_that_locate_paths_must_write_at_the_located_one() -> None:
    """Ours: as above, for the service that writes."""

    class Files:
        def locate(self, session_id: str, path: str) -> str:
            return path

        def write_text(self, session_id: str, path: str, content: str) -> None: ...

    with pytest.raises(LocalProtocolError, match="must take at="):
        make_options({"files": Files()})
