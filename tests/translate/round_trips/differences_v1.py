"""What may differ when v1 goes to v2 and back, function by function.

Points are those of the table of losses; what has none is said otherwise, and nothing is lost.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.schema.v1 import methods as v1_methods
from accord.transcript import Transcript
from accord.translate.message import Json

X = "acp.translate"
MODES: Json = {
    "currentModeId": "a",
    "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B", "_meta": {"k": 1}}],
}
# Their `_meta` is a patch in v2, and comes back as all of what was attached so far.
UPSERTS = frozenset(
    {
        "tool_call",
        "tool_call_update",
        "session_info_update",
        "compaction_update",
        "subagent_update",
        "session_message",
    }
)


# ---- what may differ


def empty_meta_is_none(value: Any) -> Any:
    """An empty `_meta` says nothing."""
    if isinstance(value, dict):
        return {
            key: empty_meta_is_none(one)
            for key, one in value.items()
            if not (key == "_meta" and one in ({}, None))
        }
    return [empty_meta_is_none(one) for one in value] if isinstance(value, list) else value


def nulls_say_nothing(update: Json) -> None:
    """v1's null is v1's silence; v2's would clear (the translation's table 8)."""
    names = {
        "tool_call": ("name", "rawInput", "rawOutput"),
        "tool_call_update": tuple(update),
        "usage_update": ("cost",),
    }.get(update["sessionUpdate"], ())
    for name in names:
        if update.get(name, 0) is None:
            del update[name]


def a_plan_has_an_id(update: Json) -> None:
    """A client that understands plans with ids hears of the only one as `main`."""
    if update["sessionUpdate"] == "plan":
        update["sessionUpdate"] = "plan_update"
        update["plan"] = {"type": "items", "planId": "main", "entries": update.pop("entries")}


def what_v2_cannot_list_comes_last(update: Json) -> None:
    """Commands and choices that v2 does not allow lose their place in the list."""
    if update["sessionUpdate"] == "available_commands_update":
        seen: set[str] = set()
        commands: list[Json] = update["availableCommands"]
        commands.sort(key=lambda one: not _is_command(one, seen))
    if update["sessionUpdate"] == "config_option_update":
        options: list[Json] = update["configOptions"]
        options.sort(key=lambda one: not is_choice(one))


def _is_command(command: Json, seen: set[str]) -> bool:
    name = command["name"].removeprefix("/")
    is_new = bool(name) and not any(char.isspace() for char in name) and name not in seen
    seen.add(name if is_new else "")
    return is_new


def is_choice(option: Json) -> bool:
    """Whether v2 can list an option."""
    if option["type"] != "select":
        return True
    entries = option["options"]
    groups = [entry for entry in entries if "group" in entry]
    return all(entry.get("options") for entry in entries) if groups else bool(entries)


def terminals_of_the_client_are_lines(update: Json) -> None:
    """Lossy point 10."""
    if not update["sessionUpdate"].startswith("tool_call"):
        return
    content: list[Json] = update.get("content") or []
    for index, item in enumerate(content):
        if item["type"] == "terminal":
            text = {"type": "text", "text": f"[terminal {item['terminalId']}]"}
            content[index] = {
                "type": "content",
                "content": text,
                "_meta": {X: {"raw": item}},
            }


def states_of_children_are_known_words(update: Json) -> None:
    """A state of a child that nobody knows is `unknown`, with its own kept."""
    state = update.get("state")
    if update["sessionUpdate"] == "subagent_update" and state is not None:
        word = state["state"]
        if word not in ("running", "idle", "requires_action", "unknown"):
            state["state"] = "unknown"
            state.setdefault("_meta", {})[X] = {"state": word}


EXCEPTIONS: list[Callable[[Json], None]] = [
    nulls_say_nothing,
    a_plan_has_an_id,
    what_v2_cannot_list_comes_last,
    terminals_of_the_client_are_lines,
    states_of_children_are_known_words,
]


class Expected:
    """What the client should hear, update by update."""

    def __init__(self) -> None:
        self._calls: set[str] = set()
        self._mode = "a"
        self._options: list[Json] = []

    def of(self, update: Json) -> list[Json]:
        """An update of the agent, as it may come back."""
        said: Json = empty_meta_is_none(deepcopy(update))
        kind = said["sessionUpdate"]
        if kind == "current_mode_update":
            return self._mode_is(said)
        for differs in EXCEPTIONS:
            differs(said)
        if kind == "config_option_update":
            return self._options_are(said)
        if kind in ("tool_call", "tool_call_update"):
            self._announced(said)
        return [said]

    def _mode_is(self, said: Json) -> list[Json]:
        """A mode that is on already is not told again; nor what is attached to the change."""
        before, self._mode = self._mode, said["currentModeId"]
        said.pop("_meta", None)
        return [] if before == self._mode else [said]

    def _options_are(self, said: Json) -> list[Json]:
        """Options beside modes are told when they have changed."""
        before, self._options = self._options, said["configOptions"]
        return [] if before == self._options else [said]

    def _announced(self, said: Json) -> None:
        """The first that is heard of a call announces it, and needs a title."""
        is_new = said["toolCallId"] not in self._calls
        self._calls.add(said["toolCallId"])
        said["sessionUpdate"] = "tool_call" if is_new else "tool_call_update"
        if is_new and "title" not in said:
            said["title"] = said.get("name") or said["toolCallId"]
            said.setdefault("_meta", {})[X] = {"title": None}


def compare(expected: list[Json], heard: list[Json]) -> None:
    """Equal, but for `_meta` that is told whole where v1 told a part."""
    heard = [empty_meta_is_none(one) for one in heard]
    for one, other in zip(expected, heard, strict=True):
        if one["sessionUpdate"] in UPSERTS:
            meta, told = one.pop("_meta", {}), other.pop("_meta", {})
            assert {key: told.get(key) for key in meta} == meta
        assert other == one


def folded(updates: list[Json]) -> Json:
    """The transcript that updates of v1 add up to."""
    transcript = Transcript("v1")
    opened = {"sessionId": "s", "modes": MODES}
    transcript.session_setup(decode(v1.NewSessionResponse, encode(opened)))
    method = v1_methods.CLIENT_METHODS["session/update"]
    for update in updates:
        params = method.decode_params(encode({"sessionId": "s", "update": update}))
        transcript.apply(params.update)
    return transcript.dump()


def comparable(dump: Json) -> Json:
    """Without what may differ: see above."""
    for call in dump["toolCalls"]:
        for item in call["content"]:
            if item["type"] == "terminal" or "raw" in item.get("_meta", {}).get(X, {}):
                item.clear()
        call["meta"] = None
        call["title"] = call["title"] or call["name"] or call["toolCallId"]
    for child in dump["subagents"]:
        child["state"] = child["meta"] = None
    dump["info"]["meta"] = None
    for entry in (*dump["compactions"], *dump["sessionMessages"]):
        entry["meta"] = None
    for name in ("commands", "configOptions"):
        dump[name].sort(key=str)
    # The same entries in the order of first sight.
    dump["timeline"] = [entry["type"] for entry in dump["timeline"]]
    return {key: empty_meta_is_none(value) for key, value in dump.items()}
