"""Optional behaviour: its rules do not apply until the program shows it.

No capability announces that an agent asks forms or makes plans.  A rule about such a thing is
called for once the program was seen to do it, or once a scenario has a prompt for it.  Tools and
permissions are different: a coding agent is taken to have them until its scenario says `never`.

Must not know: any check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from accord.conformance.frames.raw_peer import Frame
from accord.conformance.rule_definition import Rule

# Members whose contents are the program's own.
FOREIGN = frozenset({"rawInput", "rawOutput", "_meta"})


@dataclass(frozen=True, slots=True)
class Occasion:
    """Optional behaviour: `words` to follow "to", and the rules about it.

    It is shown by a request or notification of the program, by an update of one of these kinds, or
    by one of these keys, with methods in those alone; or by a capability, the dotted path of it.
    `assumed` means that it is called for anyway.  `purposes` are the prompts of a scenario that
    promise it.
    """

    words: str
    rules: tuple[str, ...]
    methods: tuple[str, ...] = ()
    updates: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    capability: str = ""
    purposes: tuple[str, ...] = ()
    assumed: bool = False

    def about(self, rule_id: str) -> bool:
        """Whether a rule is about this behaviour."""
        return any(fnmatchcase(rule_id, like) for like in self.rules)

    def shown_by(self, frame: Frame) -> bool:
        """Whether a frame of the program shows this behaviour."""
        if self.capability:
            return is_offered(frame, self.capability)
        if self.methods:
            keys = not self.keys or has_key(frame.params, self.keys)
            return frame.method in self.methods and keys
        params = frame.params
        update = params.get("update")
        kind = update.get("sessionUpdate") if isinstance(update, dict) else params.get("type")
        if self.updates and kind in self.updates:
            return True
        return bool(self.keys) and has_key(frame.object, self.keys)


OCCASIONS: Mapping[str, Occasion] = {
    "tools": Occasion(
        "call tools",
        (
            "V1-CAP-01", "V1-CAP-08", "V1-FS-01", "V1-TERM-01", "V1-SESS-0[345]", "V1-SESS-1[238]",
            "V1-TOOL-*", "V2-UPS-1*", "V2-UPS-2*", "D26-15", "D26-17", "D26-2[45]", "D26-3[24]",
        ),
        assumed=True,
    ),
    "permission": Occasion(
        "ask for permission",
        ("V1-PERM-06", "V2-PERM-*", "V2-CANCEL-06", "D26-3[24]"),
        assumed=True,
    ),
    "long turns": Occasion(
        "work for a long time",
        (
            "V1-CANCEL-0[569]", "V1-CREQ-02", "V1-CLOSE-02", "V2-CANCEL-0[345]", "V2-CANCEL-14",
            "V2-PROMPT-17", "V2-SESS-1[567]",
        ),
        assumed=True,
    ),
    "further folders": Occasion(
        "accept additional folders",
        ("V1-SESS-04", "V1-SESS-1[238]"),
        capability="sessionCapabilities.additionalDirectories",
    ),
    "close": Occasion(
        "close sessions", ("V1-CLOSE-02",), capability="sessionCapabilities.close"
    ),
    "list": Occasion(
        "list sessions", ("V1-CLOSE-13",), capability="sessionCapabilities.list"
    ),
    "cursors": Occasion("list sessions in pages", ("V1-CLOSE-10",), keys=("nextCursor",)),
    "held prompts": Occasion("hold prompts while it works", ("V2-PROMPT-20",)),
    "options": Occasion(
        "have options", ("V1-CFG-07", "V2-CFG-03"), keys=("configOptions",)
    ),
    "named commands": Occasion("have commands", ("V2-CFG-06",), keys=("availableCommands",)),
    "requests": Occasion(
        "ask its client anything",
        ("V2-GEN-02",),
        methods=("session/request_permission", "elicitation/create"),
    ),
    "long requests": Occasion("ask its client while it works for a long time", ("V2-CANCEL-13",)),
    "logins": Occasion("list logins", ("V1-AUTH-02", "V2-AUTH-0[34]"), keys=("authMethods",)),
    "forms": Occasion(
        "ask the user with forms",
        ("V1-ELIC-0[14]", "V1-ELIC-1[089]", "V1-ELIC-2[07]", "V2-ELIC-0[1345]"),
        methods=("elicitation/create",),
        purposes=("elicitation",),
    ),
    "early forms": Occasion(
        "ask the user on behalf of a request",
        ("V2-ELIC-02",),
        methods=("elicitation/create",),
        keys=("requestId",),
    ),
    "addresses": Occasion(
        "ask the user to visit a page",
        ("V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-24"),
        methods=("elicitation/create",),
        keys=("url",),
        purposes=("url",),
    ),
    "secrets": Occasion("ask the user for secrets", ("V1-ELIC-11",), purposes=("secret",)),
    "plans": Occasion(
        "report plans",
        ("V1-PLAN-02", "V2-CFG-08"),
        updates=("plan", "plan_update"),
        purposes=("plan",),
    ),
    "servers": Occasion("start MCP servers", ("D26-28",), purposes=("mcp",)),
    "named plans": Occasion("give its plans ids", ("V1-PLAN-05",), updates=("plan_update",)),
    "archives": Occasion("archive sessions", ("V1-CAP-07",), keys=("archive",)),
    "costs": Occasion("report its costs", ("V1-USAGE-04",), keys=("cost",), purposes=("usage",)),
    "notices": Occasion(
        "send notices", ("V1-USAGE-0[56]",), updates=("notice",), purposes=("notice",)
    ),
    "compaction": Occasion(
        "report its compactions",
        ("V1-USAGE-09", "V1-USAGE-1[015]"),
        updates=("compaction", "compaction_update"),
        purposes=("compaction",),
    ),
    "subagents": Occasion("report subagents", ("V1-PROXY-0[89]",), purposes=("subagent",)),
    "terminals": Occasion(
        "run commands in terminals of the client",
        ("V1-TERM-07",),
        methods=("terminal/create",),
    ),
    "terminals in calls": Occasion(
        "show terminals of the client in its tool calls",
        ("V1-TOOL-09",),
        methods=("session/update", "session/request_permission"),
        keys=("terminalId",),
    ),
    "shown terminals": Occasion(
        "show terminals of its own",
        ("V2-UPS-1[26]",),
        updates=("terminal_update", "terminal_output_chunk"),
    ),
    "command permissions": Occasion(
        "ask about a command as such",
        ("V2-PERM-06",),
        methods=("session/request_permission",),
        keys=("command",),
    ),
    "diffs": Occasion("show what it changes as a diff", ("V2-UPS-18",), keys=("changes",)),
    "moves": Occasion("show a move as a diff", ("V2-UPS-21",), keys=("oldPath",)),
    "paths": Occasion(
        "name files that it changes", ("V1-TOOL-10",), keys=("locations", "oldText", "newText")
    ),
    "lines": Occasion("name lines of files", ("V1-GEN-07", "V2-UPS-22"), keys=("line",)),
    "commands": Occasion(
        "have slash commands", ("V1-CMD-03",), updates=("available_commands_update",),
        purposes=("command",),
    ),
    "own modes": Occasion(
        "change its mode on its own", ("V1-MODE-03",), purposes=("mode",)
    ),
    "own options": Occasion(
        "change its options on its own",
        ("V1-CFG-06",),
        updates=("config_option_update",),
        purposes=("config",),
    ),
    "failures": Occasion(
        "fail in the middle of a turn", ("V2-PROMPT-06", "V2-PROMPT-19"), purposes=("crash",)
    ),
    "background": Occasion(
        "continue work in the background of an idle session",
        ("V2-PROMPT-2[1234]", "V2-CANCEL-09"),
        keys=("background",),
        purposes=("background",),
    ),
    "cancellable background": Occasion(
        "offer to cancel the background work of an idle session", ("V2-CANCEL-20",)
    ),
    "cancellable calls": Occasion(
        "offer to cancel single calls",
        ("V2-CANCEL-17",),
        methods=("session/update",),
        keys=("cancel",),
        purposes=("cancellable",),
    ),
}  # fmt: skip
# Behaviour of clients that is expected only with a scenario.
CLIENT_OCCASIONS: Mapping[str, Occasion] = {
    "list": Occasion("list sessions", ("V1-CLOSE-0[467]", "V2-SESS-20")),
    "load": Occasion("load sessions", ("V1-CAP-0[19]", "V1-LOAD-0[12]", "D26-17")),
    "resume": Occasion("resume sessions", ("V1-LOAD-07", "V2-SESS-06")),
    "close": Occasion("close sessions", ("V1-CLOSE-01",)),
    "delete": Occasion("delete sessions", ("V1-CLOSE-14", "V2-SESS-21")),
    "image": Occasion("send images", ("V1-PROMPT-02", "V2-INIT-09", "V2-PROMPT-01")),
    "mode": Occasion("set modes", ("V1-MODE-02",)),
    "login": Occasion("log in", ("V1-AUTH-0[136]", "V2-AUTH-0[57]")),
    "logout": Occasion("log out", ("V1-AUTH-07", "V2-AUTH-02")),
    "roots": Occasion("send additional folders", ("V1-SESS-09", "V1-SESS-15", "V2-SESS-23")),
    "mcp": Occasion("pass on MCP servers", ("V1-MCP-03", "V2-SESS-25")),
    "system prompt": Occasion("send a system prompt", ("V1-SESS-26",)),
    "two requests": Occasion("have two requests open at once", ("V2-GEN-02",)),
    "statuses": Occasion("ask for the status of a session", ("V1-CLOSE-25",)),
    "state": Occasion("show its state to the kit", ("V1-TOOL-13",)),
}


def excuse(
    rule: Rule, shown: frozenset[str], *, purposes: Iterable[str] = (), never: Iterable[str] = ()
) -> str:
    """Return why a rule does not apply to an agent with this behaviour; empty if it applies.

    `purposes` are the prompts of the agent's own scenario, `never` is what that excludes.
    """
    promised, excluded = frozenset(purposes), frozenset(never)
    for name, occasion in OCCASIONS.items():
        expected = occasion.assumed or bool(promised & set(occasion.purposes))
        if occasion.about(rule.id) and name not in shown and (name in excluded or not expected):
            return f"the agent was not seen to {occasion.words}"
    return ""


def client_excuse(rule: Rule, purposes: Iterable[str]) -> str:
    """Return why a rule does not apply to a client with these purposes; empty if it applies."""
    if rule.seen == "dump":
        return "the client does not show its state to the kit"
    for name, occasion in CLIENT_OCCASIONS.items():
        if occasion.about(rule.id) and name not in purposes:
            return f"the scenario has no command by which the client would {occasion.words}"
    return ""


def shown_in(conversations: Iterable[Iterable[Frame]]) -> frozenset[str]:
    """Return the names of the behaviour that a program has shown."""
    found: set[str] = set()
    for frames in conversations:
        for frame in frames:
            if not frame.sent:
                found |= {name for name, one in OCCASIONS.items() if one.shown_by(frame)}
    return frozenset(found)


def is_offered(frame: Frame, path: str) -> bool:
    """Whether a frame answers `initialize` and offers this dotted path of the capabilities."""
    found = frame.object.get("result")
    if not isinstance(found, dict) or "protocolVersion" not in found:
        return False
    found = found.get("agentCapabilities", found.get("capabilities"))
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found is not None and found is not False


def has_key(value: Any, keys: tuple[str, ...]) -> bool:
    """Whether an object at any depth has one of these keys with a value that is not empty.

    What is not the protocol's is not looked into.
    """
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if any(one.get(key) not in (None, []) for key in keys):
                return True
            left += [inner for key, inner in one.items() if key not in FOREIGN]
        elif isinstance(one, list):
            left += one
    return False
