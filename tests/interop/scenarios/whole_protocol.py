"""The tour: one script that touches every part of the protocol, and what a client must see of it.

The same steps are run with every pair, whichever library is on either side; `check` knows v1 and
v2, and not which library is speaking.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.interop.harness import Run

Json = dict[str, Any]

FILE = "greeting.txt"
TEXT = "hello\nworld\n"
PERMISSION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"]

# What a step is called here, and the step.  The first two are every client's own.
STEPS = {
    "say": "prompt:say hello there",
    "stream": "prompt:stream 20",
    "think": "prompt:think hm",
    "plan": "prompt:plan",
    "tool": "prompt:tool",
    "read": f"prompt:read {FILE}",
    "edit": f"prompt:edit {FILE} changed",
    "write": "prompt:write new.txt fresh",
    "terminal": "prompt:terminal echo out",
    "kill": "prompt:kill sleep 100",
    "allow": "prompt:permission",
    "answer reject": "permission:reject_always",
    "reject": "prompt:permission",
    "rejected edit": f"prompt:edit {FILE} again",
    "answer cancelled": "permission:cancelled",
    "dismiss": "prompt:permission",
    "agent's mode": "prompt:mode code",
    "agent's config": "prompt:config model large",
    "mode": "mode:ask",
    "config": "config:model=small",
    "usage": "prompt:usage",
    "title": "prompt:title T",
    "commands": "prompt:commands",
    "cancel": "cancel:long",
    "refuse": "prompt:refuse",
    "unknown mode": "mode:nope",
    "load": "load",
    "resume": "resume",
    "list": "list",
    "close": "close",
}


def prepare(folder: Path) -> None:
    """Put the file there that the tour reads and edits."""
    (folder / FILE).write_text(TEXT, "utf-8")


def check(
    run: Run,
    folder: Path,
    version: int,
    without: Collection[str] = (),
    *,
    agent_version: int | None = None,
) -> None:
    """Assert that the client saw all of the tour, and that files are as they must be.

    `without` names the facts that this pair cannot bring over; `agent_version` is the agent's
    where it is not the client's.
    """
    saw: dict[str, Json] = dict(zip(["start", "new", *STEPS], run.report["steps"], strict=True))
    assert run.report["exit"] == 0, "the agent ends by itself when its input ends"
    assert saw["start"]["version"] == version
    assert [name for name, step in saw.items() if "unknown" in step] == []
    assert [name for name, step in saw.items() if "error" in step] == ["unknown mode"]
    agent_version = agent_version or version
    # A v2 client that dismisses a question has not cancelled; a v1 agent would take it for that,
    # so that a translator says no instead.
    dismissed = "reject_once" if agent_version < version else None
    _check_talk(saw, version, dismissed)
    _check_tools(saw, folder, version, agent_version)
    _check_files(saw, folder, version, agent_version)
    _check_permissions(saw, version, dismissed)
    _check_state(saw, without)
    _check_history(saw, version)


def _check_talk(saw: dict[str, Json], version: int, dismissed: str | None) -> None:
    assert saw["say"]["messages"] == ["hello there"]
    assert saw["stream"]["messages"] == ["".join(f"{number} " for number in range(20))]
    assert saw["think"]["thought_text"] == "hm"
    assert saw["plan"]["plan"] == [["Look", "completed"], ["Leap", "pending"]]
    stops = {name: step.get("stop") for name, step in saw.items() if step["step"][:6] == "prompt"}
    others = {"refuse": "refusal", "dismiss": "end_turn" if dismissed else "cancelled"}
    assert stops == {name: others.get(name, "end_turn") for name in stops}
    assert (saw["cancel"]["agent_text"], saw["cancel"]["stop"]) == ("working", "cancelled")
    if version == 2:
        assert saw["say"]["user_text"] == "say hello there"
        assert saw["say"]["states"] == ["running", "idle"]
        assert saw["allow"]["states"] == ["running", "requires_action", "running", "idle"]


def _check_tools(saw: dict[str, Json], folder: Path, version: int, agent_version: int) -> None:
    [search] = saw["tool"]["tools"]
    assert (search["title"], search["kind"]) == ("Search the code", "search")
    assert search["status"] == "completed"
    assert search["locations"] == [{"path": str(folder / "hay.py"), "line": 3}]
    assert (search["rawInput"], search["rawOutput"]) == ({"query": "needle"}, {"matches": 1})
    assert search["content"] == [
        {"type": "content", "content": {"type": "text", "text": "1 match"}}
    ]
    [edit] = saw["edit"]["tools"]
    [diff] = edit["content"]
    assert (edit["kind"], edit["status"], diff["type"]) == ("edit", "completed", "diff")
    if version == 1:
        assert diff["oldText"] == TEXT
        # A patch of the v2 agents here does not say that the text ends without a line's end.
        assert diff["newText"] == "changed" or (
            agent_version == 2 and diff["newText"] == "changed\n"
        )
    else:
        [change] = diff["changes"]
        assert (change["operation"], change["path"]) == ("modify", str(folder / FILE))
        assert "+changed" in diff["patch"]["text"]


def _check_files(saw: dict[str, Json], folder: Path, version: int, agent_version: int) -> None:
    assert saw["read"]["agent_text"] == TEXT
    assert (folder / FILE).read_text("utf-8") == "changed"
    assert (folder / "new.txt").read_text("utf-8") == "fresh"
    assert saw["terminal"]["agent_text"] == "exit=0 output=out"
    assert saw["kill"]["agent_text"] == "killed=True"
    if version < agent_version:
        # A terminal of the agent's own is text in v1.
        assert "out" in str(saw["terminal"]["tools"][0]["content"])
        return
    [terminal] = saw["terminal"]["terminals"]
    assert (terminal["output"], terminal["exit"]) == ("out\n", 0)
    if version == agent_version == 1:
        # Here the client owns files and terminals.
        assert saw["read"]["reads"] == [str(folder / FILE)]
        written = {"path": str(folder / "new.txt"), "content": "fresh"}
        assert saw["write"]["writes"] == [written]
        assert len(saw["terminal"]["released"]) == len(saw["kill"]["released"]) == 1


def _check_permissions(saw: dict[str, Json], version: int, dismissed: str | None) -> None:
    answers = {"allow": "allow_once", "reject": "reject_always", "dismiss": None}
    for name, answer in answers.items():
        [asked] = saw[name]["permissions"]
        assert (asked["kinds"], asked["chosen"]) == (PERMISSION_KINDS, answer)
        assert asked["tool"] == saw[name]["tools"][0]["toolCallId"]
        assert saw[name]["agent_text"] == f"permission {answer or dismissed or 'cancelled'}"
    assert saw["rejected edit"]["agent_text"] == "not edited"
    # v1 knows no other end; whether v2 calls it an error or stopped is the agent's to say.
    ends = ["failed"] if version == 1 else ["failed", "cancelled"]
    assert saw["rejected edit"]["tools"][0]["status"] in ends


def _check_state(saw: dict[str, Json], without: Collection[str]) -> None:
    assert saw["new"]["mode"] == "ask"
    assert saw["new"]["config"]["model"] == "small"
    assert saw["agent's mode"]["mode"] == "code"
    assert saw["agent's config"]["config"]["model"] == "large"
    assert saw["mode"]["mode"] == "ask"
    assert saw["config"]["config"]["model"] == "small"
    assert saw["unknown mode"]["error"]["code"] == -32602
    assert saw["usage"]["usage"] == {"used": 10, "size": 100}
    assert saw["title"]["title"] == "T"
    if "commands" not in without:
        assert saw["commands"]["commands"] == ["run"]


def _check_history(saw: dict[str, Json], version: int) -> None:
    assert saw["load"]["agent_text"].startswith("hello there0 1 2 ")
    assert saw["load"]["user_text"].startswith("say hello therestream 20think hm")
    assert saw["resume"]["agent_text"] == ""
    assert (saw["load"]["mode"], saw["resume"]["mode"]) == ("ask", "ask")
    assert saw["load"]["config"]["model"] == "small"
    assert len(saw["list"]["sessions"]) == 1
    if version == 2:
        assert (saw["load"]["states"], saw["resume"]["states"]) == (["idle"], ["idle"])
