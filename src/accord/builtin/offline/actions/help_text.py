"""Greetings, help, and what the offline brain says about models and slash commands."""

from __future__ import annotations

import difflib

from accord.builtin.models.packages import support_words
from accord.builtin.offline.answer_format import bullets, listed
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.intent_parser import SLASH
from accord.builtin.offline.prompt.slash_commands import COMMANDS
from accord.builtin.offline.turn_context import Work

WITHOUT_MODEL = "I work without a language model: by rules, and by looking things up in the code."

HELP = """\
| type | to |
|---|---|
| `what is this project?` | see languages, entry points, tests and the largest modules |
| `explain calc.py`, `explain Session.load` | see what a file or a symbol is |
| `where is NAME`, `who calls NAME`, `find TEXT` | find definitions, uses or text |
| `where is the signature checked?` | find definitions by the words in them |
| `show FILE`, `what's in FILE?` | see a file |
| `run the tests` | find and run the tests |
| `run the linter`, `format the code` | run the project's own tools |
| `fix it` | repair small mistakes after a failing run |
| `rename OLD to NEW` | rename a symbol in all Python files |
| `change 'OLD' to 'NEW' in FILE` | replace exact text |
| `$ COMMAND` | run a one-line command; put several lines in a code fence |
| `undo` | undo my last changes |
| `/mcp`, `/call SERVER.TOOL {"a": 1}` | use the tools of MCP servers |

Files that you attach with `@` are used as they are. I ask before each change or command, unless \
the mode says otherwise."""

MODEL = """\
This session works without a language model. To use one:

1. %s
2. Make one available: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY` before the \
agent starts, or run a server such as Ollama on this machine, or name one in Accord's `config.toml`:

```toml
[model]
provider = "openai"
name = "NAME OF THE MODEL"
base_url = "http://127.0.0.1:8080/v1"
```

3. Start the agent again. New sessions begin with it; where there are several, or for this \
session, choose it in your editor's model picker.

Until then, `/help` shows what I can do without one."""


async def hello(work: Work, intent: Intent) -> None:
    """Answer a greeting with what to try."""
    await work.say(
        "Hello! I am Accord's built-in agent, working without a language model. Try "
        "`what is this project?`, `run the tests`, `fix it`, or `help`."
    )


async def thanks(work: Work, intent: Intent) -> None:
    """Answer thanks and other words that ask for nothing."""
    await work.say("All right. What next? `help` shows what I understand.")


async def show_help(work: Work, intent: Intent) -> None:
    """List what the user can type."""
    lines = [
        f"`/{one.name}{f' {one.hint}' if one.hint else ''}`: {one.description}" for one in COMMANDS
    ]
    if work.model is None:
        await work.say(f"{WITHOUT_MODEL}\n\n{HELP}", "As commands:", bullets(lines))
        return
    # The phrases of the table would go to the model.
    await work.say(
        f"`{work.model}` answers your messages. These commands work by rules, without it:",
        bullets(lines),
    )


async def show_model(work: Work, intent: Intent) -> None:
    """Name the model that answers, or explain how to set one up."""
    if work.model is None:
        await work.say(MODEL % support_words())
        return
    await work.say(
        f"`{work.model}` answers in this session; slash commands work by rules, without it. "
        "Your editor's model picker has the others, and `offline` for none."
    )


async def usage(work: Work, intent: Intent) -> None:
    """Explain the argument that a slash command is missing."""
    spec = next((one for one in COMMANDS if one.name == intent["command"]), None)
    hint = "<file>" if spec is None or spec.hint is None else spec.hint
    about = "Show a file" if spec is None else spec.description
    await work.say(f"`/{intent['command']}` needs an argument: `{hint}`. {about}.")


async def no_such_command(work: Work, intent: Intent) -> None:
    """Answer an unknown slash command."""
    name = intent.get("command") or ""
    near = difflib.get_close_matches(name.lower(), SLASH, n=1)
    meant = f" Did you mean `/{near[0]}`?" if near else ""
    names = listed([f"/{one.name}" for one in COMMANDS], len(COMMANDS))
    await work.say(f"There is no command `/{name}`.{meant}", f"Available commands: {names}.")
