"""Servers that come with a project: read with care, used with consent alone."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from accord.errors import ConfigError
from accord.mcp.project_file import (
    FILE_NAME,
    Consents,
    ProjectServer,
    consented,
    read_project_file,
)
from accord.mcp.server_spec import spec_from_entry

TOOLS = {
    "command": "tools",
    "args": ["--in", "${ROOM:-kitchen}"],
    "env": {"TOKEN": "${SECRET}"},
}
NET = {"type": "streamable-http", "url": "https://x.example/${ROOM:-}", "headers": {"X-Key": "k"}}


def write(folder: Path, servers: Any) -> None:
    (folder / FILE_NAME).write_text(json.dumps({"mcpServers": servers}))


def read(folder: Path) -> dict[str, ProjectServer]:
    return read_project_file(folder, {"SECRET": "of-mine"})


def test_the_usual_form_is_read_with_its_variables(tmp_path: Path) -> None:
    """Issue: a project's own file, in the form that other programs have."""
    write(tmp_path, {"tools": TOOLS, "net": NET})
    servers = read(tmp_path)
    spec = spec_from_entry("tools", servers["tools"])
    assert (spec.command, spec.args) == ("tools", ("--in", "kitchen"))
    assert spec.env == {"TOKEN": "of-mine"}
    net = spec_from_entry("net", servers["net"])
    assert (net.transport, net.url, net.headers) == ("http", "https://x.example/", {"X-Key": "k"})


def test_what_is_shown_has_no_credentials(tmp_path: Path) -> None:
    """Issue: credentials are never shown."""
    kept = {"command": "tools", "env": {"TOKEN": "0123", "ROOM": "a b"}}
    write(tmp_path, {"tools": TOOLS, "net": NET, "kept": kept})
    servers = read(tmp_path)
    assert servers["tools"].described == (
        "runs tools --in '${ROOM:-kitchen}' with TOKEN='${SECRET}', and gets your SECRET"
    )
    assert servers["kept"].described == "runs tools with ROOM='a b', TOKEN=[secret]"
    assert servers["net"].described == "connects to https://x.example/${ROOM:-} with X-Key"
    assert "of-mine" not in repr(servers)


def test_variables_that_make_another_program_of_it_are_shown(tmp_path: Path) -> None:
    """Issue 12: `git` with a PATH of the project's is a program of the project's."""
    env = {"PATH": "/project/bin", "NODE_OPTIONS": "--require ./x.js"}
    write(tmp_path, {"git": {"command": "git", "args": ["status"], "env": env}})
    assert read(tmp_path)["git"].described == (
        "runs git status with NODE_OPTIONS='--require ./x.js', PATH=/project/bin"
    )


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    """Issue 12: a project could make `accord chat` hang before its first question."""
    os.mkfifo(tmp_path / FILE_NAME)
    with pytest.raises(ConfigError, match="it is not a regular file"):
        read(tmp_path)


def test_nothing_is_used_where_nobody_can_be_asked(tmp_path: Path) -> None:
    """Issue: consent first; never assumed in a pipe."""
    write(tmp_path, {"tools": TOOLS})
    record = tmp_path / "state" / "consents.json"
    allowed, left_out = consented(read(tmp_path), Consents(record))
    assert allowed == {}
    assert left_out == [f"the MCP server tools of {tmp_path / FILE_NAME} needs your consent first"]
    assert not record.exists()


def test_an_answer_counts_for_that_entry_until_it_changes(tmp_path: Path) -> None:
    """Issue: the record has a hash of the entry."""
    write(tmp_path, {"tools": TOOLS, "net": NET})
    consents = Consents(tmp_path / "state" / "consents.json")
    asked: list[str] = []

    def ask(server: ProjectServer) -> bool | None:
        asked.append(server.name)
        return {"tools": True, "net": False}[server.name]

    allowed, left_out = consented(read(tmp_path), consents, ask)
    assert list(allowed) == ["tools"]
    assert [one.rsplit(" ", 2)[1:] for one in left_out] == [["was", "refused"]]
    again, _ = consented(read(tmp_path), Consents(tmp_path / "state" / "consents.json"))
    assert list(again) == ["tools"]
    write(tmp_path, {"tools": TOOLS | {"args": ["--delete-all"]}, "net": NET})
    assert consented(read(tmp_path), consents)[0] == {}
    consented(read(tmp_path), consents, ask)
    assert asked == ["tools", "net", "tools"]
    assert consented(read(tmp_path), consents, lambda _: None)[0].keys() == {"tools"}


def test_the_record_is_private_and_has_no_secrets(tmp_path: Path) -> None:
    """Issue: permissions 0700 and 0600."""
    write(tmp_path, {"tools": TOOLS})
    file = tmp_path / "state" / "consents.json"
    consented(read(tmp_path), Consents(file), lambda _: True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "of-mine" not in file.read_text()


def test_an_answer_that_cannot_be_kept_counts_once(tmp_path: Path) -> None:
    """Found in review: on a read-only disk the yes ended the whole run."""
    write(tmp_path, {"tools": TOOLS})
    (tmp_path / "state").write_text("no folder")
    consents = Consents(tmp_path / "state" / "consents.json")
    allowed, [said] = consented(read(tmp_path), consents, lambda _: True)
    assert set(allowed) == {"tools"}
    assert said.startswith("cannot store the answer about tools: ")


def test_an_unreadable_record_is_no_consent(tmp_path: Path) -> None:
    """What cannot be read was not agreed to."""
    write(tmp_path, {"tools": TOOLS})
    file = tmp_path / "consents.json"
    for text in ("{", "[]", '{"x": 1}'):
        file.write_text(text)
        assert consented(read(tmp_path), Consents(file))[0] == {}


def test_a_server_that_needs_a_variable_is_left_out_without_it(tmp_path: Path) -> None:
    """A missing key is a sentence, not a server with an empty password."""
    write(tmp_path, {"tools": TOOLS})
    servers = read_project_file(tmp_path, {})
    allowed, [said] = consented(servers, Consents(tmp_path / "c.json"), lambda _: True)
    assert allowed == {}
    assert said.endswith("needs SECRET (not set)")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not valid JSON"),
        ("[]", "mcpServers: must be an object"),
        ('{"mcpServers": {"a": 1}}', "mcpServers.a: must be an object"),
        ('{"mcpServers": {"a": {}}}', "mcpServers.a.command: is missing"),
        ('{"mcpServers": {"a": {"type": "http"}}}', "mcpServers.a.url: is missing"),
        ('{"mcpServers": {"a": {"type": "pigeon"}}}', "must be one of stdio, http, sse"),
        ('{"mcpServers": {"a": {"type": 5}}}', "must be one of stdio, http, sse"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "args: must be a list"),
        ('{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}', "env: must be an object"),
    ],
)
def test_a_wrong_file_is_complained_about_by_key(tmp_path: Path, text: str, complaint: str) -> None:
    """Contract: an error names file, key and what may be."""
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_project_file(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / FILE_NAME))
    assert complaint in str(caught.value)


def test_a_file_that_is_not_there_or_no_file(tmp_path: Path) -> None:
    """Most projects have none."""
    assert read_project_file(tmp_path) == {}
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ConfigError, match="directory"):
        read_project_file(tmp_path)
