"""The offline brain: from a prompt to an intent, and from the intent to who acts on it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import anyio

from accord.builtin.brain.offline import (
    changing,
    looking,
    repair_loop,
    talking,
    testing,
    unknown,
)
from accord.builtin.brain.offline.arguments import SPACE, marked
from accord.builtin.brain.offline.commands import COMMANDS, CommandSpec
from accord.builtin.brain.offline.intent import Intent
from accord.builtin.brain.offline.intents import parse
from accord.builtin.brain.offline.work import Work
from accord.builtin.tools.listing import project_files

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.tools.toolbox import Toolbox
    from accord.builtin.workspace import Workspace

Action = Callable[[Work, Intent], Awaitable[None]]

ACTIONS: Mapping[str, Action] = {
    "map": looking.show_map,
    "files": looking.show_files,
    "show": looking.show_file,
    "explain": looking.explain,
    "where": looking.where,
    "callers": looking.callers,
    "find": looking.find,
    "rename": changing.rename_symbol,
    "change": changing.change_text,
    "move": changing.move,
    "delete": changing.delete,
    "undo": changing.undo,
    "test": testing.test,
    "why": testing.why,
    "fix": repair_loop.fix,
    "run": talking.run,
    "mcp": talking.show_mcp,
    "call": talking.call,
    "plan": talking.show_plan,
    "hello": talking.hello,
    "thanks": talking.thanks,
    "help": talking.show_help,
    "model": talking.show_model,
    "usage": talking.usage,
    "no_such_command": talking.no_such_command,
    "unknown": unknown.unknown,
}


ANYWHERE = frozenset(
    {"hello", "thanks", "help", "model", "usage", "no_such_command", "mcp", "call"}
)
"""What can be done where the session's folder is not there."""

# What a client may send for a person who wants what was refused after all.
_AGAIN = re.compile(
    r"(?:please,? )?(?:try|do) (?:it |that |this )?again(?:: .*)?[.!]?", re.IGNORECASE | re.DOTALL
)


class OfflineBrain:
    """Answers prompts without a model.  It keeps nothing; what lasts is in the workspace."""

    async def turn(self, turn: Turn, tools: Toolbox, workspace: Workspace) -> str | None:
        """Answer one prompt; None is a turn that came to its end."""
        work = Work(turn, tools, workspace)
        intent = parse(await self._one_word_each(work))
        if workspace.last_intent is not None and _AGAIN.fullmatch(turn.text.strip()):
            intent = workspace.last_intent
        elif intent.name != "unknown":
            workspace.last_intent = intent
        if any(SPACE in value for value in intent.arguments.values()):
            values = {key: value.replace(SPACE, " ") for key, value in intent.arguments.items()}
            intent = Intent(intent.name, values, intent.slash)
        if not turn.text.strip() and work.mentioned():
            # A file without a word: what else could be wanted?
            intent = Intent("explain", {"target": work.mentioned()[0]})
        needs_folder = intent.name not in ANYWHERE and not work.embedded()
        if needs_folder and not await anyio.Path(turn.cwd).is_dir():
            await work.say(
                f"The folder of this session, `{turn.cwd}`, is not there, so there is nothing that "
                "I can look at or change."
            )
            return None
        await ACTIONS[intent.name](work, intent)
        return None

    async def _one_word_each(self, work: Work) -> str:
        """The prompt with names of files that have spaces in them marked as such."""
        text = work.turn.text
        if " " not in text or not ("." in text or "/" in text) or text.lstrip()[:1] in ("$", "!"):
            return text
        listing = await project_files(str(work.turn.cwd))
        return marked(text, listing.paths)


__all__ = ["ACTIONS", "COMMANDS", "CommandSpec", "OfflineBrain"]
