"""Prompts that made an agent do something for which its scenario has no prompt.

It is not known beforehand which prompt makes an agent ask with a form or work in the background.
What it did once for an ordinary prompt it may do again, so that prompt serves the purpose.

Must not know: any rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.agent.scenario import Scenario
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Unanswered
from accord.conformance.optional_behaviour import OCCASIONS

# The prompts to try if only some checks are run; none of them takes long.
TRIED = ("say", "tool", "edit", "terminal", "plan")
# Requests after which an update may report the value that they set.
SETTING = frozenset({"session/set_mode", "session/set_config_option"})


def seen_prompts(conversations: Iterable[Sequence[Frame]], scenario: Scenario) -> dict[str, str]:
    """Return prompts that served another purpose, by the purposes without a prompt."""
    wanted = {
        purpose: occasion
        for occasion in OCCASIONS.values()
        for purpose in occasion.purposes
        if scenario.prompt(purpose) is None
    }
    known = {*scenario.prompts.values(), scenario.prompt("say")}
    found: dict[str, str] = {}
    # Prompts that also showed something more specific, such as a URL instead of a form.
    spare: dict[str, str] = {}
    for frames in conversations:
        last: dict[str, str] = {}
        plain = _plain_sessions(frames)
        for frame in frames:
            session = str(frame.params.get("sessionId"))
            if frame.sent and frame.method == "session/prompt" and session in plain:
                last[session] = _text(frame)
            elif frame.sent and frame.method in SETTING:
                last.pop(session, None)
            elif not frame.sent and last.get(session) in known:
                shown = {key: one for key, one in wanted.items() if one.shown_by(frame)}
                keyed = any(one.keys for one in shown.values())
                for purpose, occasion in shown.items():
                    kept = spare if keyed and not occasion.keys else found
                    kept.setdefault(purpose, last[session])
    return spare | found


def _plain_sessions(frames: Sequence[Frame]) -> set[str]:
    """Return the sessions without servers, since behaviour with a server needs the server."""
    made = queries.answers(frames, "session/new")
    return {
        str(result.get("sessionId"))
        for asked, _, _, result in made
        if not frames[asked].params.get("mcpServers")
    }


def _text(frame: Frame) -> str:
    """Return the text of a prompt that has only text."""
    blocks = frame.params.get("prompt", frame.params.get("content"))
    # Checks send prompts of wrong types too.
    whole = blocks if isinstance(blocks, list) else []
    texts = [one.get("text") for one in whole if isinstance(one, dict)]
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else ""


async def try_prompts(stage: AgentStage) -> None:
    """Send some prompts of the scenario, each to a new session, to see what the agent does."""
    talk = stage.talk
    await talk.initialize()
    for purpose in TRIED:
        prompt = stage.scenario.prompt(purpose)
        if prompt is not None:
            session = str((await talk.new_session())["sessionId"])
            with suppress(Unanswered):
                await talk.prompt(session, prompt)
