"""Whether a client speaks the transport that it is not judged over."""

from __future__ import annotations

from accord.conformance.client.launch import SCHEMES, Way
from accord.conformance.client.stage import ClientStage
from accord.conformance.frames.raw_peer import Unanswered


async def judge_other_transport(stage: ClientStage, way: Way) -> None:
    """TR-HTTP-01: the same command, with a URL of the other transport, begins too."""
    try:
        talk = await stage.start(way=way)
        await talk.request("initialize")
    except Unanswered as error:
        said = f"with a {SCHEMES[way]}:// URL the client does not begin: {error}"
        stage.judge.failed("TR-HTTP-01", said)
        return
    stage.judge.passed("TR-HTTP-01")
