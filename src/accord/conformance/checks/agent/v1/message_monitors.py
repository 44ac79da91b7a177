"""Monitors of a v1 agent's messages: JSON-RPC, types, and when their content is allowed.

`watching` makes the monitors of every version that look at frames one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from accord.conformance.check_definition import Findings, Monitor, monitor
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.frame_queries import Complaint
from accord.conformance.frames.raw_peer import Frame, as_json
from accord.conformance.frames.schema_validation import Flaw, flaws
from accord.conformance.rule_definition import Version

Look = Callable[[Sequence[Frame]], Iterator[Complaint]]


def watching(rule: str, version: Version, look: Look, *, needs: Look | None = None) -> Monitor:
    """Make a monitor that fails its rule on the first fault, and passes it if there was a frame.

    With `needs`, it passes only where that finds something to look at.
    """

    @monitor(rule, version=version)
    def found(frames: Sequence[Frame], judge: Findings) -> None:
        for frame, said in look(frames):
            judge.failed(rule, said, came=frame)
            return
        relevant = any(needs(frames)) if needs else any(queries.received(frames))
        if relevant:
            judge.passed(rule)

    return found


def requests(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Return the requests of the agent."""
    return ((frame, "") for frame in queries.received(frames) if frame.is_request)


def responses(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Return the responses of the agent."""
    return ((frame, "") for frame in queries.received(frames) if frame.is_response)


def error_responses(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Return the error responses of the agent."""
    return ((frame, "") for frame, _ in queries.errors(frames))


def not_asked(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find responses without a request, also those whose id is null without need."""
    yield from queries.unasked_responses(frames)
    yield from queries.null_answers(frames)


def not_one_message(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find frames that are not messages of v1, which has no arrays."""
    yield from queries.not_jsonrpc(frames)
    yield from ((frame, "an array was sent") for frame, _ in queries.arrays(frames))


v1_jsonrpc = watching("V1-GEN-01", "1", not_one_message)
v1_asked = watching("V1-GEN-02", "1", not_asked, needs=responses)
v1_responses = watching("V1-GEN-03", "1", queries.bad_responses, needs=responses)
v1_ids = watching("V1-GEN-05", "1", queries.odd_ids, needs=requests)
v1_names = watching("V1-GEN-08", "1", queries.odd_names)
v1_traces = watching("V1-EXT-07", "1", queries.traces, needs=error_responses)
v1_lines = watching("TR-STDIO-02", "1", queries.broken_lines)
v1_noise = watching("TR-STDIO-03", "1", queries.noise)
v1_children = watching("V1-PROXY-08", "1", queries.unannounced_children, needs=queries.children)


GATED_REQUESTS = {
    "fs/read_text_file": ("fs.readTextFile", "V1-FS-01"),
    "fs/write_text_file": ("fs.writeTextFile", "V1-FS-01"),
    "terminal/create": ("terminal", "V1-TERM-01"),
}
GATED_UPDATES = {
    "plan_update": ("plan", "V1-PLAN-05"),
    "plan_removed": ("plan", "V1-PLAN-05"),
    "notice": ("session.notices", "V1-USAGE-05"),
    "compaction_update": ("session.compaction", "V1-USAGE-09"),
    "compaction_summary_chunk": ("session.compaction", "V1-USAGE-09"),
    "subagent_update": ("subagents", "V1-PROXY-09"),
}


def rule_of(flaw: Flaw) -> str:
    """Return the rule that a wrong type breaks: the most specific one."""
    if flaw.why == "unknown key":
        return "V1-GEN-09"
    if "absolute path" in flaw.why:
        return "V1-TOOL-10" if ".update." in flaw.where else "V1-GEN-06"
    if flaw.where.endswith(".sessionId"):
        return "V1-SESS-02" if flaw.part == "result" else "V1-SESS-23"
    if flaw.method == "initialize":
        return "V1-INIT-04"
    if flaw.where.endswith("stopReason"):
        return "V1-PROMPT-08"
    if flaw.where.startswith("$.requestedSchema"):
        return "V1-ELIC-27" if "unknown variant" in flaw.why else "V1-ELIC-20"
    if ".cost" in flaw.where:
        return "V1-USAGE-04"
    return "V1-INIT-09"


SHAPED = (
    "V1-GEN-09", "V1-TOOL-10", "V1-GEN-06", "V1-SESS-02", "V1-SESS-23", "V1-INIT-04",
    "V1-PROMPT-08", "V1-USAGE-04", "V1-ELIC-20", "V1-ELIC-27", "V1-INIT-09",
)  # fmt: skip


@monitor(*SHAPED)
def shapes(frames: Sequence[Frame], judge: Findings) -> None:
    for flaw in flaws(frames, "1", of_agent=True):
        if flaw.where.endswith(".category"):
            # Only for display: an unknown category does no harm.
            continue
        if flaw.is_own and flaw.method == "elicitation/create":
            continue
        judge.failed(rule_of(flaw), str(flaw), came=flaw.frame)
    if any(queries.answers(frames, "initialize")):
        judge.passed("V1-INIT-04", "V1-GEN-09", "V1-INIT-09")
    if any(queries.answers(frames, "session/prompt")):
        judge.passed("V1-PROMPT-08")
    for _, _, _, update in queries.updates(frames):
        judge.passed("V1-SESS-23")
        if update.get("locations") or _diffs(update):
            judge.passed("V1-TOOL-10", "V1-GEN-06")
        if update.get("cost"):
            judge.passed("V1-USAGE-04")


def _diffs(update: dict[str, Any]) -> bool:
    content = update.get("content")
    items = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") == "diff" for one in items)


@monitor("V1-CAP-01", "V1-CAP-08", "V1-FS-01", "V1-TERM-01", "V1-ELIC-01")
def gated_requests(frames: Sequence[Frame], judge: Findings) -> None:
    offered = queries.hello(frames).get("clientCapabilities")
    for frame in queries.received(frames):
        if not frame.is_request:
            continue
        method = frame.method or ""
        gate, rule = GATED_REQUESTS.get(method, ("", ""))
        if method == "elicitation/create":
            gate, rule = f"elicitation.{frame.params.get('mode')}", "V1-ELIC-01"
        if not gate:
            continue
        if queries.at(offered, gate) in (None, False):
            for broken in ("V1-CAP-01", "V1-CAP-08", rule):
                judge.failed(broken, f"{method} without the client's {gate}", came=frame)
        else:
            judge.passed(rule, "V1-CAP-08")


@monitor("V1-PLAN-05", "V1-USAGE-05", "V1-USAGE-09", "V1-PROXY-09")
def gated_updates(frames: Sequence[Frame], judge: Findings) -> None:
    offered = queries.hello(frames).get("clientCapabilities")
    for _, frame, _, update in queries.updates(frames, *GATED_UPDATES):
        gate, rule = GATED_UPDATES[update["sessionUpdate"]]
        missing = queries.at(offered, gate) in (None, False)
        said = f"{update['sessionUpdate']} without the client's {gate}"
        judge.judge(rule, not missing, said, came=frame)


@monitor("V1-CFG-07")
def gated_options(frames: Sequence[Frame], judge: Findings) -> None:
    offered = queries.at(queries.hello(frames), "clientCapabilities.session.configOptions.boolean")
    for frame, options in _option_lists(frames):
        flags = [one for one in options if isinstance(one, dict) and one.get("type") == "boolean"]
        if offered is None:
            said = "a boolean option for a client that did not offer to show it"
            judge.judge("V1-CFG-07", not flags, said, came=frame)


def _option_lists(frames: Sequence[Frame]) -> list[tuple[Frame, list[Any]]]:
    found: list[tuple[Frame, list[Any]]] = []
    for frame in queries.received(frames):
        for holder in (frame.object.get("result"), frame.params.get("update")):
            options = holder.get("configOptions") if isinstance(holder, dict) else None
            if isinstance(options, list):
                found.append((frame, options))
    return found


# The requests whose results hold all options of a session.
OPTION_RESULTS = ("session/new", "session/load", "session/resume", "session/set_config_option")


@monitor("V1-CFG-06")
def whole_options(frames: Sequence[Frame], judge: Findings) -> None:
    look_at_updates_of_options(frames, judge, "V1-CFG-06", "id")


def look_at_updates_of_options(
    frames: Sequence[Frame], judge: Findings, rule: str, key: str
) -> None:
    """An update has the options of a result, or others: an option may add and remove others.

    `key` is what the id of an option is called.
    """
    lists = _whole_lists(frames, key)
    for _, frame, session, update in queries.updates(frames, "config_option_update"):
        names = _option_names(update, key)
        known = lists.get(session, [])
        full = names is not None and (not known or any(one <= names for one in known))
        judge.judge(rule, full, "an update does not have all options", came=frame)


def _whole_lists(frames: Sequence[Frame], key: str) -> dict[str, list[set[str]]]:
    """Return the ids of the options in each result, by session."""
    found: dict[str, list[set[str]]] = {}
    for method in OPTION_RESULTS:
        for asked, _, _, result in queries.answers(frames, method):
            params, names = frames[asked].params, _option_names(result, key)
            # Another rule judges a result that has only the changed option.
            if names and names != {str(params.get("configId"))}:
                session = str(params.get("sessionId", result.get("sessionId")))
                found.setdefault(session, []).append(names)
    return found


def _option_names(holder: dict[str, Any], key: str) -> set[str] | None:
    options = holder.get("configOptions")
    if not isinstance(options, list):
        return None
    return {str(queries.at(one, key)) for one in options}


@monitor("V1-INIT-05", "V1-CAP-04", "V1-CAP-07", "V1-AUTH-02", "V1-MCP-02")
def introductions(frames: Sequence[Frame], judge: Findings) -> None:
    for asked, _, frame, result in queries.answers(frames, "initialize"):
        if result.get("protocolVersion") != 1:
            continue
        info, can = result.get("agentInfo"), result.get("agentCapabilities")
        named = isinstance(info, dict) and bool(info.get("name")) and bool(info.get("version"))
        judge.judge("V1-INIT-05", named, "the result has no agentInfo", came=frame)
        judge.judge("V1-CAP-04", isinstance(can, dict), "no agentCapabilities", came=frame)
        if queries.at(can, "sessionCapabilities.archive") is not None:
            listed = queries.at(can, "sessionCapabilities.list") is not None
            judge.judge("V1-CAP-07", listed, "archive without list", came=frame)
        http = queries.at(can, "mcpCapabilities.http") is True
        judge.judge("V1-MCP-02", http, "mcpCapabilities.http is not true", came=frame)
        methods = result.get("authMethods")
        terminal = [
            one
            for one in (methods if isinstance(methods, list) else [])
            if isinstance(one, dict) and one.get("type") == "terminal"
        ]
        if queries.at(frames[asked].params, "clientCapabilities.auth.terminal") is not True:
            said = "a terminal login for a client that cannot run one"
            judge.judge("V1-AUTH-02", not terminal, said, came=frame)


@monitor("V1-AUTH-11")
def login_errors(frames: Sequence[Frame], judge: Findings) -> None:
    for frame, error in queries.errors(frames, -32000):
        ok = queries.at(error, "data.reason") == "auth_required" and isinstance(
            queries.at(error, "data.authMethods"), list
        )
        judge.judge("V1-AUTH-11", ok, "-32000 without reason and authMethods", came=frame)


@monitor("V1-PLAN-02")
def plans(frames: Sequence[Frame], judge: Findings) -> None:
    look_at_plans(frames, judge, "V1-PLAN-02", queries.updates(frames, "plan"))


def look_at_plans(
    frames: Sequence[Frame],
    judge: Findings,
    rule: str,
    told: Iterable[tuple[int, Frame, str, dict[str, Any]]],
) -> None:
    """Each plan has all of its entries: position, frame, session, and the plan."""
    dropped: dict[str, set[str]] = {}
    before: dict[str, set[str]] = {}
    prompts = [at for at, frame in enumerate(frames) if frame.method == "session/prompt"]
    for at, frame, session, update in told:
        entries = update.get("entries")
        whole = isinstance(entries, list) and all(
            isinstance(one, dict) and one.get("status") for one in entries
        )
        judge.judge(rule, whole, "a plan has an entry without status", came=frame)
        if not isinstance(entries, list):
            continue
        # Another turn may have another plan of the same steps.
        session += f" {sum(1 for one in prompts if one < at)}"
        now = {str(queries.at(one, "content")) for one in entries}
        # Entries may be dropped; one that returns was only left out.
        back = now & dropped.get(session, set())
        said = f"an earlier plan left out {as_json(sorted(back))}"
        judge.judge(rule, not back, said, came=frame)
        dropped[session] = (dropped.get(session, set()) | before.get(session, set())) - now
        before[session] = now


@monitor("V1-USAGE-02", "V1-USAGE-06", "V1-USAGE-10", "V1-USAGE-11", "V1-USAGE-15")
def reports(frames: Sequence[Frame], judge: Findings) -> None:
    for _, frame, _, update in queries.updates(frames, "usage_update"):
        size = update.get("size")
        ok = isinstance(size, int) and size > 0
        judge.judge("V1-USAGE-02", ok, f"usage with the size {as_json(size)}", came=frame)
    for _, frame, _, update in queries.updates(frames, "notice"):
        ok = bool(str(update.get("title") or "").strip())
        judge.judge("V1-USAGE-06", ok, "a notice has no title", came=frame)
    _compactions(frames, judge)


def _compactions(frames: Sequence[Frame], judge: Findings) -> None:
    state: dict[tuple[str, str], str] = {}
    for _, frame, session, update in queries.updates(
        frames, "compaction_update", "compaction_summary_chunk"
    ):
        name = session, str(update.get("compactionId"))
        before, status = state.get(name, ""), update.get("status")
        if update.get("sessionUpdate") == "compaction_summary_chunk":
            ok = before == "in_progress"
            judge.judge("V1-USAGE-10", ok, f"a chunk while {before or 'not begun'}", came=frame)
            continue
        if update.get("summary"):
            ok = status == "completed" or (status is None and before == "completed")
            judge.judge("V1-USAGE-11", ok, "a summary before completed", came=frame)
        if update.get("error"):
            judge.judge(
                "V1-USAGE-11", status == "failed", "an error that is not failed", came=frame
            )
        if isinstance(status, str):
            ok = before in ("", "in_progress")
            judge.judge("V1-USAGE-10", ok, f"{status} after {before}", came=frame)
            state[name] = status
    # A compaction that was running at the end of the conversation shows nothing.
    if any(status != "in_progress" for status in state.values()):
        judge.passed("V1-USAGE-15")
