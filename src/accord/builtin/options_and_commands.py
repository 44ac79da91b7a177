"""The modes, options and slash commands of the built-in agent.

Imported after the answer to `initialize`.  The readers of an option give it its meaning: the tools
(mode, auto_approve), the offline brain (test_command), the model brain (the rest).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.agent.agent import CommandHandler
from accord.agent.session.options_and_commands import Choice, Option, SlashCommand
from accord.builtin.modes import AUTO_APPROVE, MODES
from accord.builtin.offline.prompt.slash_commands import COMMANDS
from accord.builtin.user_setup import OFFLINE, Setup

if TYPE_CHECKING:
    from accord.agent.agent import Agent

MCP_COMMANDS = ("mcp", "call")
"""Commands that are shown while a session has MCP servers."""

OWN = "Accord"
NO_LIMIT = "none"
TOKEN_LIMITS = (1_000, 4_000, 16_000, 64_000)
REQUEST_LIMITS = (5, 20, 50, 200)
TEST_COMMANDS = ("pytest", "python -m unittest", "npm test", "make test")
THINKING = (
    ("auto", "Model default"),
    ("off", "Off"),
    ("low", "Low"),
    ("medium", "Medium"),
    ("high", "High"),
)


def declare(agent: Agent, setup: Setup, command: CommandHandler) -> None:
    """Register everything; `command` runs the slash commands."""
    offer = agent.offer
    for mode in MODES:
        offer.add_mode(mode)
    offer.add_option(model_option(setup))
    offer.add_option(_thinking(setup))
    offer.add_option(_test_command())
    offer.add_option(_limit("token_limit", "Token limit", "tokens", TOKEN_LIMITS, setup))
    offer.add_option(_limit("request_limit", "Request limit", "requests", REQUEST_LIMITS, setup))
    offer.add_option(AUTO_APPROVE)
    for spec in COMMANDS:
        offer.add_command(SlashCommand(spec.name, spec.description, spec.hint, command))


def model_option(setup: Setup) -> Option:
    """The model picker: no model, and those that were found."""
    default = OFFLINE if setup.default is None else setup.default.value
    # Either every choice has a group or none has.
    own = OWN if setup.models else None
    choices = (
        Choice(OFFLINE, "Offline", "No model: works by rules, without a key or a network", own),
        *(
            Choice(value, one.model, one.found or None, one.group)
            for value, one in setup.models.items()
        ),
    )
    return Option("model", "Model", default, choices, "The model that answers", "model")


def _thinking(setup: Setup) -> Option:
    level = setup.config.model.thinking or "auto"
    choices = tuple(Choice(value, name) for value, name in THINKING)
    text = "How long a model thinks before it answers"
    return Option("thinking", "Thinking", level, choices, text, "thought_level")


def _test_command() -> Option:
    choices = (
        Choice("auto", "Auto-detected"),
        *(Choice(command, command) for command in TEST_COMMANDS),
    )
    return Option("test_command", "Tests", "auto", choices, "How to run the tests")


def _limit(option_id: str, name: str, unit: str, limits: tuple[int, ...], setup: Setup) -> Option:
    model = setup.config.model
    chosen = model.max_tokens if option_id == "token_limit" else model.max_requests
    values = sorted({*limits, *(() if chosen is None else (chosen,))})
    choices = (
        Choice(NO_LIMIT, "No limit"),
        *(Choice(str(value), f"{value:,} {unit}") for value in values),
    )
    start = NO_LIMIT if chosen is None else str(chosen)
    text = f"Maximum number of {unit} in one turn"
    return Option(option_id, name, start, choices, text, unit=unit)
