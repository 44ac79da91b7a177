"""The example messages of the documents about the protocol, as data.

Each file under `messages/` stands for one document.  Structure and field names are the document's,
every value is our own.  What a document shows only in part is wrapped in a whole message (`part`).
Where documents contradict each other the example names the row of the table of contradictions
that rules (`contradiction`).

All paths lie under `ROOT`, which a test puts elsewhere with `moved`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from accord.schema.draft import methods as draft
from accord.schema.method import Method
from accord.schema.v1 import methods as v1
from accord.schema.v2 import methods as v2

Json: TypeAlias = dict[str, Any]
Spoken: TypeAlias = Literal["v1", "v2", "draft"]

FOLDER = Path(__file__).parent / "messages"
DOCUMENTS = (
    "v1_pages",
    "v1_summary",
    "v2_first_pages_prompt",
    "v2_first_pages_tool_calls",
    "draft_2026_02",
)
ROOT = "/srv/orchard"
SESSION = "s-orchard"

METHODS: dict[Spoken, dict[str, Method]] = {
    "v1": {**v1.AGENT_METHODS, **v1.CLIENT_METHODS},
    "v2": {**v2.AGENT_METHODS, **v2.CLIENT_METHODS},
    "draft": {**draft.AGENT_METHODS, **draft.CLIENT_METHODS},
}
CLIENT_METHODS: dict[Spoken, dict[str, Method]] = {
    "v1": v1.CLIENT_METHODS,
    "v2": v2.CLIENT_METHODS,
    "draft": draft.CLIENT_METHODS,
}


@dataclass(frozen=True, slots=True)
class Example:
    """One message of a document; `method` is that of the request where this is an answer."""

    document: str
    name: str
    sender: Literal["client", "agent"]
    spoken: Spoken
    method: str
    contradiction: int | None
    text: str

    @property
    def message(self) -> Json:
        """A fresh copy of the message."""
        found: Json = json.loads(self.text)
        return found

    @property
    def kind(self) -> Literal["request", "notification", "answer"]:
        """What it is in JSON-RPC."""
        if "method" not in self.message:
            return "answer"
        return "request" if "id" in self.message else "notification"

    @property
    def is_update(self) -> bool:
        """Whether it tells of a session."""
        return self.method == "session/update"

    @property
    def update(self) -> Json:
        """What an update says."""
        params = self.message["params"]
        found: Json = params["data"] if self.spoken == "draft" else params["update"]
        return found

    def moved(self, root: str | Path, session_id: str | None = None) -> Json:
        """The message in another folder and another session."""
        text = self.text.replace(ROOT, json.dumps(str(root))[1:-1])
        if session_id is not None:
            text = text.replace(f'"sessionId": "{SESSION}"', f'"sessionId": "{session_id}"')
        found: Json = json.loads(text)
        return found

    def __str__(self) -> str:
        return f"{self.document}: {self.name}"


def read(document: str) -> list[Example]:
    """The examples of one document, in its order."""
    listed = json.loads((FOLDER / f"{document}.json").read_text(encoding="utf-8"))
    return [
        Example(
            document,
            one["id"],
            one["from"],
            one["spoken"],
            one["method"],
            one.get("contradiction"),
            json.dumps(one["message"]),
        )
        for one in listed
    ]


EXAMPLES = [example for document in DOCUMENTS for example in read(document)]


def chosen(**wanted: Any) -> pytest.MarkDecorator:
    """A test runs once for every example that fits: `chosen(kind="request", spoken="v1")`."""
    found = [
        one
        for one in EXAMPLES
        if all(
            getattr(one, name) in value if isinstance(value, tuple) else getattr(one, name) == value
            for name, value in wanted.items()
        )
    ]
    assert found, wanted
    return pytest.mark.parametrize("example", found, ids=str)


def the(document: str, name: str) -> Example:
    """One example by its name."""
    (found,) = (one for one in EXAMPLES if one.document == document and one.name == name)
    return found
