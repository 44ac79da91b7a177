"""An agent of ours answers the requests of the documents, and speaks as their agents do."""

import json
from pathlib import Path

import anyio
import pytest

from tests.agent.raw_client import RawClient, raw_client
from tests.examples.examples import Example, Json, Spoken, chosen, the
from tests.examples.gardener import ANY, client_of, gardener, is_like, opened
from tests.examples.peers import ASKED
from tests.hang_limit import HANG_SECONDS

CAPABLE: dict[Spoken, Json] = {
    "v1": {
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": True},
        },
        "authMethods": [],
    },
    "draft": {
        "protocolVersion": 1,
        "agentInfo": {"name": "gardener", "version": "0.9"},
        "capabilities": {
            "loadSession": True,
            "mcpCapabilities": {"servers": True, "transport": ANY},
            "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": True},
            "sessionCapabilities": {"modes": ANY, "configOptions": ANY, "persistence": ANY},
        },
    },
}
# What the documents say is answered, by version and method.
ANSWERED: dict[tuple[Spoken, str], Json] = {
    ("v1", "initialize"): CAPABLE["v1"],
    ("v1", "authenticate"): {},
    ("v1", "session/new"): {
        "sessionId": ANY,
        "modes": {"currentModeId": "default", "availableModes": ANY},
    },
    ("v1", "session/load"): {},
    ("v1", "session/prompt"): {"stopReason": "end_turn"},
    ("v1", "session/set_mode"): {},
    ("v1", "session/set_model"): {},
    ("v1", "_orchard.test/open_gates"): {"gates": 2, "side": "north"},
    ("v2", "session/prompt"): {"stopReason": "end_turn"},
    ("draft", "initialize"): CAPABLE["draft"],
    ("draft", "authenticate"): {"success": True},
    ("draft", "session/new"): {"sessionId": ANY, "createdAt": ANY},
    ("draft", "session/load"): {
        "sessionId": ANY,
        "workingDirectory": ANY,
        "mode": "default",
        "configOptions": {"model": "small", "autoApprove": False},
        "messageCount": 0,
    },
    ("draft", "session/prompt"): {
        "stopReason": "end_turn",
        "usage": {"inputTokens": 4, "outputTokens": 2},
    },
    # No such terminal; contradiction 28 shows one that there is.
    ("draft", "terminal/output"): {"received": False},
    ("draft", "session/set_mode"): {"previousMode": "default", "currentMode": "plan"},
}
# What is refused, and the document says so too: a server behind an agent and a method of one's own
# that is not there.
REFUSED = {("draft_2026_02", "11 5"): -32007, ("draft_2026_02", "13 2"): -32601}
BEFORE_SESSIONS = ("initialize", "authenticate", "session/new")


async def asked(client: RawClient, example: Example, folder: Path) -> Json:
    """The whole answer to an example, in a session of the client's."""
    session_id = None
    if example.method not in BEFORE_SESSIONS:
        session_id = await opened(client, example.spoken, folder)
    message = example.moved(folder, session_id)
    if example.method == "session/load":
        message["params"]["sessionId"] = session_id
    client.send(message)
    return await client.answer(message["id"])


@chosen(kind="request", sender="client")
async def test_every_request_is_answered_as_its_document_says(
    example: Example, tmp_path: Path
) -> None:
    """Issue 5: in the document's own wire form; each row of contradictions by its number.

    17: an object where the v1 pages show null.  19: the client's capabilities are in its request.
    32: a model is set by the option of that category.  45: each `ask` means what it does there.
    46: `_meta` changes nothing.  50: audio is taken, which the draft's schema does not list.
    4: the early form is spoken where it was asked for.
    """
    if example.spoken == "draft":
        (tmp_path / "shed-server").touch(mode=0o755)
    agent = gardener(early=example.spoken == "v2", login=example.method == "authenticate")
    begins = example.method == "initialize"
    async with client_of(agent, example.spoken, initialize=not begins) as client:
        answer = await asked(client, example, tmp_path)
        refused = REFUSED.get((example.document, example.name))
        if refused is not None:
            assert answer["error"]["code"] == refused
            return
        assert "result" in answer, answer
        wanted = ANSWERED[example.spoken, example.method]
        assert is_like(answer["result"], wanted), answer
        if (example.spoken, example.method) == ("draft", "session/set_mode"):
            told = await client.take(lambda one: "currentMode" in str(one))
            assert told["params"]["type"] == "current_mode_update"


@pytest.mark.rule("V2-PROMPT-04")
@chosen(kind="request", spoken="v2", sender="client")
async def test_contradiction_4_a_prompt_of_today_is_answered_when_it_is_inserted(
    example: Example, tmp_path: Path
) -> None:
    """Row 4: without the switch, the answer names the message."""
    async with client_of(gardener(), "v2") as client:
        answer = await asked(client, example, tmp_path)
        assert set(answer["result"]) == {"messageId"}


@chosen(kind="notification", sender="client")
async def test_every_notification_has_the_effect_that_its_document_names(
    example: Example, tmp_path: Path
) -> None:
    """Issue 5; row 44: a cancelled turn is not an error.  One's own is ignored."""
    agent = gardener(early=example.spoken == "v2")
    async with client_of(agent, example.spoken) as client:
        session_id = await opened(client, example.spoken, tmp_path)
        blocks = [{"type": "text", "text": "wait"}]
        name = "content" if example.spoken == "draft" else "prompt"
        prompt = client.start("session/prompt", {"sessionId": session_id, name: blocks})
        await client.take(lambda one: "Waiting" in json.dumps(one) or "tool_call" in str(one))
        client.send(example.moved(tmp_path, session_id))
        if example.method != "session/cancel":
            client.send({**the("v1_pages", "cancelling 1").moved(tmp_path, session_id)})
        answer = await client.answer(prompt)
        assert answer["result"]["stopReason"] == "cancelled"
        if example.spoken == "draft":
            statuses = [
                one["params"]["data"].get("status")
                for one in client.frames
                if one.get("method") == "session/update"
            ]
            assert statuses[-1] == "cancelled"


@pytest.mark.rule("TR-STDIO-09")
@chosen(document="v1_pages", name=("framing 1", "framing 3"))
async def test_contradiction_1_both_framings_are_read(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 1: lines, or headers with a length where the client began so; then for both sides."""
    has_headers = example.name == "framing 3"
    body = json.dumps(example.message).encode()
    framed = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    seen, come = bytearray(), anyio.Event()

    def take(data: bytes) -> None:
        seen.extend(data)
        come.set()

    async with raw_client(gardener(), initialize=False, validate=False) as client:
        monkeypatch.setattr(client, "data_received", take)
        client.send_bytes(framed if has_headers else body + b"\n")
        with anyio.fail_after(HANG_SECONDS):
            await come.wait()
        head, found, text = bytes(seen).rpartition(b"\r\n\r\n")
        assert bool(found) is has_headers
        assert head == (b"Content-Length: %d" % len(text) if has_headers else b"")
        assert is_like(json.loads(text)["result"], CAPABLE["v1"])


async def test_a_method_that_nobody_has_is_refused_as_the_v1_pages_say() -> None:
    """Issue 5: -32601; the answer names the method."""
    example = the("v1_pages", "errors 1")
    async with client_of(gardener(), "v1") as client:
        error = await client.error(example.method, {})
        assert error["code"] == example.message["error"]["code"]
        assert error["data"]["method"] == example.method


async def test_contradiction_26_a_missing_session_has_the_number_of_its_version(
    tmp_path: Path,
) -> None:
    """Row 26: -32000 in the draft, with the session's id; -32002 elsewhere."""
    example = the("draft_2026_02", "15.2 1")
    wanted: Json = example.message["error"]
    codes: dict[Spoken, int] = {"draft": wanted["code"], "v1": -32002, "v2": -32002}
    for spoken, code in codes.items():
        asked = {**ASKED[spoken]["session/prompt"], "sessionId": wanted["data"]["sessionId"]}
        async with client_of(gardener(), spoken) as client:
            error = await client.error("session/prompt", asked)
            assert error["code"] == code
            assert error["data"]["sessionId"] == wanted["data"]["sessionId"]


async def test_contradiction_9_files_are_not_asked_for_in_v2(tmp_path: Path) -> None:
    """Row 9: the first pages mention such methods; they are nobody's in v2."""
    async with client_of(gardener(), "v2") as client:
        error = await client.error("fs/read_text_file", {"path": str(tmp_path)})
        assert error["code"] == -32601


async def test_what_the_agent_cannot_do_without_is_named_in_the_drafts_form() -> None:
    """Issue 5: `requiredClientCapabilities`, as in 10.3; a client that lacks it is refused."""
    example = the("draft_2026_02", "10 4")
    needed = example.message["result"]["requiredClientCapabilities"]
    hello = the("draft_2026_02", "10 3").message["params"]
    async with client_of(gardener(requires="fs.readTextFile"), "draft", initialize=False) as client:
        assert (await client.result("initialize", hello))["requiredClientCapabilities"] == needed
    async with client_of(gardener(requires="fs.readTextFile"), "draft", initialize=False) as client:
        error = await client.error("initialize", {**hello, "capabilities": {}})
        assert error["code"] == -32007
