"""The offline brain: turns a prompt into an intent, and runs the action for it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import anyio

from accord.builtin.offline.actions import (
    code_questions,
    edits,
    help_text,
    mcp_servers,
    plan,
    project_tests,
    repair_loop,
    shell_commands,
    unknown_request,
)
from accord.builtin.offline.prompt.arguments import SPACE, marked
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.intent_parser import parse
from accord.builtin.offline.prompt.slash_commands import COMMANDS, CommandSpec
from accord.builtin.offline.turn_context import Work
from accord.builtin.tools.search.project_files import project_files

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.offline.prompt.message import Message
    from accord.builtin.tools.toolbox import Toolbox
    from accord.builtin.workspace import Workspace

Action = Callable[[Work, Intent], Awaitable[None]]


async def several(work: Work, intent: Intent) -> None:
    """Do several things in order, until a command among them fails."""
    texts = list(intent.arguments.values())
    parts = [_spaced(parse(text)) for text in texts]
    for number, part in enumerate(parts):
        if part.name == "test" and [one.name for one in parts[number + 1 :]][:1] == ["fix"]:
            # The repair begins with the run that was asked for.
            work.put_last_run_aside()
            continue
        await ACTIONS[part.name](work, part)
        if work.went_well is False and number + 1 < len(parts):
            await work.say(f"So I stopped before “{texts[number + 1]}”.")
            return


ACTIONS: Mapping[str, Action] = {
    "map": code_questions.show_map,
    "files": code_questions.show_files,
    "show": code_questions.show_file,
    "explain": code_questions.explain,
    "where": code_questions.where,
    "callers": code_questions.callers,
    "find": code_questions.find,
    "rename": edits.rename_symbol,
    "change": edits.change_text,
    "move": edits.move,
    "delete": edits.delete,
    "undo": edits.undo,
    "test": project_tests.test,
    "why": project_tests.why,
    "fix": repair_loop.fix,
    "run": shell_commands.run,
    "task": shell_commands.task,
    "several_lines": shell_commands.several_lines,
    "not_a_command": shell_commands.not_a_command,
    "half_understood": unknown_request.half_understood,
    "contents": code_questions.contents,
    "about": code_questions.about_words,
    "mcp": mcp_servers.show_mcp,
    "call": mcp_servers.call,
    "plan": plan.show_plan,
    "hello": help_text.hello,
    "thanks": help_text.thanks,
    "help": help_text.show_help,
    "model": help_text.show_model,
    "usage": help_text.usage,
    "no_such_command": help_text.no_such_command,
    "several": several,
    "unknown": unknown_request.unknown,
}


ANYWHERE = frozenset(
    {"hello", "thanks", "help", "model", "usage", "no_such_command", "mcp", "call", "several_lines",
     "not_a_command", "half_understood"}
)  # fmt: skip
"""Intents that work even if the session's folder is missing."""

# Words that refer to an attachment rather than to the whole project.
_THIS = re.compile(
    r"\b(?:this|it|that)\b(?! (?:whole |entire )?(?:project|repo|package|library))", re.I
)

# What a client may send when the user now wants what was refused.
_AGAIN = re.compile(
    r"(?:please,? )?(?:try|do) (?:it |that |this )?again(?:: .*)?[.!]?", re.IGNORECASE | re.DOTALL
)


class OfflineBrain:
    """Answers prompts without a model.  Its state is in the workspace."""

    async def turn(
        self, turn: Turn, message: Message, tools: Toolbox, workspace: Workspace
    ) -> str | None:
        """Answer one prompt; None means that the turn ended normally."""
        work = Work(turn, message, tools, workspace)
        said = message.text
        intent = await self._meant(work)
        if workspace.last_intent is not None and _AGAIN.fullmatch(said):
            intent = workspace.last_intent
        elif intent.name != "unknown":
            workspace.last_intent = intent
        if not said and work.message.attached:
            # A file without any text: explain it.
            intent = Intent("explain", {"target": "this"})
        needs_folder = intent.name not in ANYWHERE and not work.embedded()
        if needs_folder and not await anyio.Path(turn.cwd).is_dir():
            await work.say(
                f"The folder of this session, `{turn.cwd}`, does not exist, so I cannot read or "
                "change anything."
            )
            return None
        await ACTIONS[intent.name](work, intent)
        return None

    async def _meant(self, work: Work) -> Intent:
        """What the newest message of the prompt means."""
        message = work.message
        intent = parse(await self._one_word_each(work, message.text))
        if intent.name == "unknown" and message.unlinked != message.text:
            intent = parse(message.unlinked)
        if intent.name == "unknown":
            texts = "\n".join((*message.others, message.text))
            head, _, pasted = texts.strip().partition("\n")
            if pasted.strip() and code_questions.is_about_this(parse(head)):
                work.paste(pasted.strip("\n"))
                return parse(head)
        if intent.name == "map" and message.attached and _THIS.search(message.text):
            return Intent("explain", {"target": "this"})
        return _spaced(intent)

    async def _one_word_each(self, work: Work, text: str) -> str:
        """The prompt with names of files that have spaces in them marked as such."""
        if " " not in text or not ("." in text or "/" in text) or text.lstrip()[:1] in ("$", "!"):
            return text
        listing = await project_files(str(work.turn.cwd))
        return marked(text, listing.paths)


def _spaced(intent: Intent) -> Intent:
    """The intent with spaces restored in file names."""
    if not any(SPACE in value for value in intent.arguments.values()):
        return intent
    values = {key: value.replace(SPACE, " ") for key, value in intent.arguments.items()}
    return Intent(intent.name, values, intent.slash)


__all__ = ["ACTIONS", "COMMANDS", "CommandSpec", "OfflineBrain"]
