"""The reference names everything that is public, and nothing that is gone."""

import inspect
import re

import accord
from accord.client.options import ClientOptions
from accord.transcript import KINDS
from tests.docs.blocks import ROOT

API = (ROOT / "docs" / "reference" / "api.md").read_text()
LIMITS = (ROOT / "docs" / "how-to" / "limits.md").read_text()


def described(text: str) -> set[str]:
    """What stands in backquotes at the head of a section, a paragraph or a row of a table."""
    heads = re.findall(r"^(?:###|\*\*|\|) ?(.*)$", text, re.MULTILINE)
    bold = re.findall(r"\*\*`(\w+)`\*\*", text)
    cells = " ".join(head.split(" | ")[0] for head in heads)
    return {*re.findall(r"`@?(?:agent\.)?(\w+)", cells), *bold}


def test_every_public_name_has_its_paragraph() -> None:
    """Style: public means written down."""
    tree = {name for name in accord.__all__ if re.search(rf"^[ │├└─]*{name}\b", API, re.MULTILINE)}
    assert set(accord.__all__) - described(API) - tree == set()


def test_every_member_of_the_main_classes_is_named() -> None:
    """Issue 15: what is public is documented, and what is not meant for users is not public."""
    classes = (
        accord.Agent,
        accord.Turn,
        accord.AgentSession,
        accord.ToolCallHandle,
        accord.TerminalHandle,
        accord.Client,
        accord.Session,
        accord.PromptTurn,
        accord.Reply,
        accord.Proxy,
        accord.McpServers,
        accord.Transport,
        accord.Receiver,
        accord.DraftOptions,
    )
    named = set(re.findall(r"[`.@ ](\w+)(?=[`(=])", API))
    for one in classes:
        public = {name for name in dir(one) if not name.startswith("_")}
        assert public - named == set(), one
    assert set(accord.Ended._fields) <= named


def test_every_keyword_of_an_agent_and_of_a_client_is_listed() -> None:
    """Newcomers: the keywords of `Client.spawn` stood in comments only."""
    of_agent = set(inspect.signature(accord.Agent).parameters) - {"name"}
    of_spawn = set(inspect.signature(accord.Client.spawn).parameters) - {"command", "options"}
    of_connect = set(inspect.signature(accord.Client.connect).parameters) - {"agent", "options"}
    assert of_agent | of_spawn | of_connect | set(ClientOptions.__annotations__) <= described(API)


def test_every_kind_of_update_is_listed() -> None:
    """Newcomers: the values of `Update.kind` stood nowhere."""
    assert set(KINDS) <= described(API)


def test_every_limit_is_listed_with_its_default() -> None:
    """Ours: a bound that nobody can find is a surprise."""
    head, remote = LIMITS.split("## Remote connections")
    for text, limits in ((head, accord.Limits), (remote, accord.RemoteLimits)):
        for name, field in inspect.signature(limits).parameters.items():
            row = re.search(rf"^\| `{name}` \| ([\d.]+)( MiB)? \|", text, re.MULTILINE)
            assert row is not None, name
            factor = 1024 * 1024 if row.group(2) else 1
            assert float(row.group(1)) * factor == field.default


def test_every_method_that_the_reference_names_exists() -> None:
    """Ours: a page that outlives what it describes misleads."""
    sections = re.findall(r"^### `(\w+)`\n(.*?)(?=^##)", API, re.MULTILINE | re.DOTALL)
    assert {name for name, _ in sections} >= {"Agent", "Turn", "Client", "Session"}
    for name, text in sections:
        owner = getattr(accord, name)
        for called in re.findall(r"^\|(?: `@?(?:agent\.)?(\w+)\()", text, re.MULTILINE):
            known = hasattr(owner, called) or called in inspect.signature(owner).parameters
            assert known or called == name, f"{name}.{called}"
