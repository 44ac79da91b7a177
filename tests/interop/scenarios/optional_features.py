"""The detour: what the tour leaves out because not every peer has it.

Logins, content of other kinds, forms, methods beyond the protocol, one tool call stopped alone, and
the end of a session for good.
"""

from collections.abc import Collection
from typing import Any

from tests.interop.harness import Run

Json = dict[str, Any]

STEPS = {
    "login": "login:key",
    "other login": "login:other",
    "blocks": "blocks",
    "form": "prompt:form",
    "refuse forms": "form:decline",
    "refused form": "prompt:form",
    "echo": "echo:7",
    "asked echo": "prompt:echo 8",
    "stop": "stop:slow",
    "delete": "delete",
    "list": "list",
}


def steps(without: Collection[str] = ()) -> list[str]:
    """The steps, but for those that this pair does not have."""
    return [step for name, step in STEPS.items() if name not in without]


def check(run: Run, without: Collection[str] = ()) -> None:
    """Assert that the client saw all of it."""
    names = ["start", "new", *(name for name in STEPS if name not in without)]
    saw: dict[str, Json] = dict(zip(names, run.report["steps"], strict=True))
    assert run.report["exit"] == 0
    assert [name for name, step in saw.items() if "error" in step] == ["other login"]
    assert saw["other login"]["error"]["code"] == -32602
    assert saw["blocks"]["agent_text"] == "text image resource_link resource"
    assert saw["form"]["agent_text"] == "form accept Ada"
    assert saw["form"]["forms"] == [{"message": "Who?", "fields": ["name"]}]
    assert saw["refused form"]["agent_text"] == "form decline"
    assert saw["echo"]["echo"] == {"value": "7"}
    assert saw["asked echo"]["agent_text"] == "echo 8"
    if "stop" not in without:
        [tool] = saw["stop"]["tools"]
        assert tool["status"] == "cancelled"
        assert (saw["stop"]["agent_text"], saw["stop"]["stop"]) == ("stopped", "end_turn")
    if "delete" not in without:
        assert saw["list"]["sessions"] == []
