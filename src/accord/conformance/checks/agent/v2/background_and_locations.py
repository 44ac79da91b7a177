"""Checks of what a v2 agent shows: pages, places, and what goes on in the background."""

from __future__ import annotations

from accord.conformance.agent.stage import AgentStage
from accord.conformance.check import check
from accord.conformance.checks.agent.v1.notices_and_forms import prompted


@check("V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-24", needs="url", version="2")
async def pages_are_shown(stage: AgentStage) -> None:
    """The monitors look at the page; here the agent is made to show one."""
    await prompted(stage, "url")


@check("V2-UPS-22", needs="read", version="2")
async def places_are_shown(stage: AgentStage) -> None:
    """The monitors look at the places; here the agent is made to name one."""
    await prompted(stage, "read")


@check("V2-PROMPT-22", "V2-PROMPT-24", needs="background", version="2")
async def background_is_told_again(stage: AgentStage) -> None:
    """The monitors look at the states; here there are some after the first with a list."""
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("background"))
    await talk.say(session, stage.scenario.prompt("say"))
