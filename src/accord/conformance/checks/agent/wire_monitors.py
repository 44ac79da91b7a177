"""What every line of an agent shows, in v1 and v2: JSON-RPC, names, stdio.

Each function makes the monitor of one version; the rule ids differ, what is seen does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from accord.conformance.check_definition import Findings, Monitor, monitor
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.frame_queries import Complaint
from accord.conformance.frames.raw_peer import Frame
from accord.conformance.rule_definition import Version

Look = Callable[[Sequence[Frame]], Iterator[Complaint]]


def watching(rule: str, version: Version, look: Look, *, needs: Look | None = None) -> Monitor:
    """A monitor that fails its rule on the first complaint and passes it when there was a frame.

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
    """Requests of the agent."""
    return ((frame, "") for frame in queries.received(frames) if frame.is_request)


def responses(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Responses of the agent."""
    return ((frame, "") for frame in queries.received(frames) if frame.is_response)


def error_responses(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Error responses of the agent."""
    return ((frame, "") for frame, _ in queries.errors(frames))


def not_asked(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Responses without a request, also those whose id is null without need."""
    yield from queries.unasked_responses(frames)
    yield from queries.null_answers(frames)


def not_one_message(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """A frame that is not a message of v1, which has no arrays."""
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
v2_jsonrpc = watching("V1-GEN-01", "2", queries.not_jsonrpc)
v2_asked = watching("V1-GEN-02", "2", queries.unasked_responses, needs=responses)
v2_responses = watching("V1-GEN-03", "2", queries.bad_responses, needs=responses)
v2_nulls = watching("V2-GEN-03", "2", queries.null_answers, needs=error_responses)
v2_ids = watching("V2-GEN-01", "2", queries.odd_ids, needs=requests)
v2_reused = watching("V2-GEN-02", "2", queries.reused_ids, needs=queries.open_together)
v2_names = watching("V1-GEN-08", "2", queries.odd_names)
v2_lines = watching("TR-STDIO-02", "2", queries.broken_lines)
v2_noise = watching("TR-STDIO-03", "2", queries.noise)
v2_children = watching("V1-PROXY-08", "2", queries.unannounced_children, needs=queries.children)
